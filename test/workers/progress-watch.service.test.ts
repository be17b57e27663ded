import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { ProgressWatch } from "../../src/workers/progress-watch.ts";

const STUCK_AFTER_MS = 500;
const ENDLESS_CPU_MS = 1_000_000;
const WAIT = { timeout: 60_000, interval: 20 };
/** Uses CPU time for a moment, as a worker does before its first job, then says so. */
const START = "for (const end = Date.now() + 300; Date.now() < end; ); console.log('ready');";

/** Starts a program that ends with the test. It runs when the promise resolves. */
async function start(program: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["--eval", START + program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

/** Watches a process with a job. Returns the causes for which it counts as stuck. */
function watch({ pid }: ChildProcess, options: { maxCpuMs?: number; job?: () => number | undefined } = {}) {
  const causes: string[] = [];
  const { maxCpuMs = ENDLESS_CPU_MS, job: runningJob = () => 1 } = options;
  const onStuck = (cause: string) => causes.push(cause);
  const watched = new ProgressWatch({ pid, runningJob, onStuck, maxCpuMs, stuckAfterMs: STUCK_AFTER_MS });
  onTestFinished(() => watched.stop());
  return causes;
}

const WAITING = "setInterval(() => {}, 1e6)";
const SPINNING = "for (;;);";

describe.runIf(process.platform === "linux")("a process counts as stuck with its job", () => {
  const IDLE = "has a job and uses no CPU time";

  test("if it is stopped", async () => {
    const child = await start(SPINNING);
    child.kill("SIGSTOP");
    const causes = watch(child);
    await expect.poll(() => causes, WAIT).toEqual([IDLE]);
  });

  test("if it waits for ever, once", async () => {
    const causes = watch(await start(WAITING));
    await expect.poll(() => causes, WAIT).toEqual([IDLE]);
    await sleep(4 * STUCK_AFTER_MS);
    expect(causes).toHaveLength(1);
  });

  test("if it runs in an endless loop", async () => {
    const causes = watch(await start(SPINNING), { maxCpuMs: 1_000 });
    await expect.poll(() => causes, WAIT).toEqual(["used more than 1 s of CPU time for one job"]);
  });
});

describe.runIf(process.platform === "linux")("a process does not count as stuck", () => {
  test("without a job, or with one job after the other", async () => {
    const idle = watch(await start(WAITING), { job: () => undefined });
    let job = 0;
    const busy = watch(await start(WAITING), { job: () => ++job });
    await sleep(6 * STUCK_AFTER_MS);
    expect([idle, busy]).toEqual([[], []]);
  });

  test("if it works on a machine that is busy with other processes", async () => {
    await Promise.all(Array.from({ length: 8 }, () => start(SPINNING)));
    const slow = await start(SPINNING);
    const causes = watch(slow);
    await sleep(8 * STUCK_AFTER_MS);
    expect(causes).toEqual([]);
  });

  test("if it has ended", async () => {
    const child = await start("");
    const causes = watch(child);
    await sleep(4 * STUCK_AFTER_MS);
    expect(causes).toEqual([]);
  });
});
