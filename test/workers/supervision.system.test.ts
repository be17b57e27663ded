import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type Analyzer, DEFAULT_MODELS_DIR } from "../../src/core/index.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { openPool, type Pool, type WorkerLoss } from "../../src/workers/pool.ts";
import { FACES, openRealAnalyzer } from "../support/faces.ts";
import { photograph } from "../support/images.ts";

/** A wait limit that no test reaches, however slow the machine is. */
const LONG_MS = 600_000;
/** Options of a pool whose workers may be stopped for as long as a test needs. */
const PATIENT = { modelsDir: DEFAULT_MODELS_DIR, maxQueueWaitMs: LONG_MS, stuckAfterMs: LONG_MS };
const WAIT = { timeout: 20_000, interval: 20 };

let pool: Pool;
let analyzer: Analyzer;
beforeAll(async () => {
  [pool, analyzer] = await Promise.all([openPool({ ...PATIENT, workers: 2 }), openRealAnalyzer()]);
});
afterAll(() => Promise.all([pool.close(), analyzer.close()]));

/** Returns the error that a promise is rejected with. */
function errorFrom(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail("nothing was thrown"),
    (error: unknown) => error,
  );
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Counts the worker processes of this process. */
function countWorkerProcesses(): number {
  const processes = execFileSync("ps", ["-A", "-o", "ppid=,args="], { encoding: "utf8" }).split("\n");
  return processes.filter((line) => line.trim().startsWith(`${process.pid} `) && line.includes("worker.js"))
    .length;
}

describe("a worker", () => {
  test("ignores SIGINT and SIGTERM", async () => {
    const before = pool.pids;
    for (const pid of before) for (const signal of ["SIGINT", "SIGTERM"]) process.kill(pid, signal);
    await Promise.all([pool.embed(photograph(3)), pool.embed(photograph(3))]);
    expect(pool.pids).toEqual(before);
  });

  test("that exits fails its running job only and is replaced", async () => {
    const expected = await analyzer.embed(photograph(3));
    const [killed, spared] = pool.pids as [number, number];
    // A worker that is stopped stays busy with its job.
    for (const pid of [killed, spared]) process.kill(pid, "SIGSTOP");
    const calls = [1, 2].map(() => errorFrom(pool.embed(photograph(3))));
    const waiting = pool.embed(photograph(3));
    process.kill(killed, "SIGKILL");
    expect(await Promise.race(calls)).toMatchObject({ name: "QueueError", kind: "workerLost" });
    expect(pool.pids).toEqual([spared]);

    // One worker is still busy, so only the new one can do this.
    expect(await waiting).toStrictEqual(expected);
    expect(pool.restarts).toBe(1);
    expect(pool.pids).toHaveLength(2);
    expect(pool.pids).not.toContain(killed);

    process.kill(spared, "SIGKILL");
    await Promise.all(calls);
    await vi.waitFor(() => expect(pool.pids).toHaveLength(2), WAIT);
    expect([pool.restarts, pool.busy]).toEqual([2, 0]);
  });

  test("that exits while it is idle is replaced, and no call fails", async () => {
    for (const pid of pool.pids) process.kill(pid, "SIGKILL");
    await vi.waitFor(() => expect(pool.pids).toHaveLength(0), WAIT);
    const calls = [pool.embed(photograph(3)), pool.embed(photograph(3))];
    expect(pool.waiting).toBe(2);
    const [one, other] = await Promise.all(calls);
    expect(one).toStrictEqual(other);
  });

  test("that is stuck is killed after the deadline of its call, and others are not affected", async () => {
    const losses: WorkerLoss[] = [];
    const own = await openPool({
      ...PATIENT,
      workers: 2,
      onWorkerLoss: (loss) => losses.push(loss),
    });
    const [stuck] = own.pids as [number];
    process.kill(stuck, "SIGSTOP");
    const deadline = AbortSignal.timeout(500);
    const calls = [1, 2, 3, 4].map(() =>
      own.embed(photograph(3), { signal: deadline }).catch((error) => error),
    );
    expect(await Promise.all(calls)).toContainEqual(expect.objectContaining({ name: "TimeoutError" }));
    expect((await own.embed(photograph(3))).facesFound).toBe(3);

    await vi.waitFor(() => expect(losses).toEqual([{ cause: "SIGKILL", restarts: 0 }]), WAIT);
    await vi.waitFor(() => expect(own.pids).toHaveLength(2), WAIT);
    expect(own.pids).not.toContain(stuck);
    expect(own.restarts).toBe(1);

    // Closing kills a worker that does not exit.
    process.kill(own.pids[0]!, "SIGSTOP");
    await own.close();
    expect(losses).toHaveLength(1);
  });

  describe.runIf(process.platform === "linux")("that is stuck", () => {
    const STUCK = { cause: "has a job and uses no CPU time" };
    const openImpatientPool = async (workers: number) => {
      const losses: WorkerLoss[] = [];
      const own = await openPool({
        ...PATIENT,
        workers,
        stuckAfterMs: 1_000,
        onWorkerLoss: (loss) => losses.push(loss),
      });
      onTestFinished(() => own.close());
      return { own, losses };
    };

    test("is replaced, and its job runs on another worker", async () => {
      const { own, losses } = await openImpatientPool(2);
      const expected = await analyzer.embed(photograph(3));
      const [stuck] = own.pids as [number];
      process.kill(stuck, "SIGSTOP");
      const calls = [1, 2, 3, 4].map(() => own.embed(photograph(3)));
      expect(await Promise.all(calls)).toStrictEqual(calls.map(() => expected));
      await vi.waitFor(() => expect(own.pids).toHaveLength(2), WAIT);
      expect(own.pids).not.toContain(stuck);
      expect(losses).toMatchObject([STUCK]);
    });

    test("twice with the same job fails the job", async () => {
      const { own, losses } = await openImpatientPool(1);
      const stopped = new Set<number>();
      const stopAll = setInterval(() => {
        for (const pid of own.pids) if (!stopped.has(pid)) stopped.add(pid) && process.kill(pid, "SIGSTOP");
      }, 1);
      process.kill(own.pids[0]!, "SIGSTOP");
      const error = await errorFrom(own.embed(photograph(3))).finally(() => clearInterval(stopAll));
      expect(error).toMatchObject({ name: "QueueError", kind: "workerLost" });
      await vi.waitFor(() => expect(losses).toMatchObject([STUCK, STUCK]), WAIT);
      for (const pid of own.pids) process.kill(pid, "SIGCONT");
      expect((await own.embed(photograph(3))).facesFound).toBe(3);
    });

    test("is not what a slow worker on a busy machine is", async () => {
      const { own, losses } = await openImpatientPool(1);
      const hogs = Array.from({ length: 8 }, () => spawn(process.execPath, ["--eval", "for (;;);"]));
      onTestFinished(() => {
        for (const hog of hogs) hog.kill("SIGKILL");
      });
      const boxes = Array.from({ length: 96 }, () => FACES[3][0]!);
      expect((await own.analyze(photograph(3), { boxes })).faces).toHaveLength(96);
      expect(losses).toEqual([]);
    });
  });

  test("exits when its parent process is killed, even in the middle of a job", async () => {
    // It takes some seconds, in turns of a fraction of a second.
    const boxes = Array.from({ length: 256 }, () => FACES[3][0]!);
    const script = `
      import { readFileSync } from "node:fs";
      import { openPool } from "./dist/src/workers/pool.js";
      const pool = await openPool({ modelsDir: ${JSON.stringify(DEFAULT_MODELS_DIR)}, workers: 1 });
      const photograph = readFileSync("node_modules/@vladmandic/face-api/demo/sample3.jpg");
      // The first turn has ended and others follow.
      const onStage = () => console.log(pool.pids[0]);
      pool.analyze(photograph, { boxes: ${JSON.stringify(boxes)}, onStage });`;
    const parent = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      cwd: PACKAGE_ROOT,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = await once(parent.stdout, "data");
    const pid = Number.parseInt(line, 10);
    expect(isRunning(pid)).toBe(true);
    parent.kill("SIGKILL");
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), WAIT);
  });
});

test("a pool retries until a worker starts, and waits for running calls when it closes", async () => {
  const folder = await mkdtemp(join(tmpdir(), "visage-pool-"));
  const modelsDir = join(folder, "models");
  const others = countWorkerProcesses();
  try {
    await symlink(DEFAULT_MODELS_DIR, modelsDir);
    const small = await openPool({ modelsDir, workers: 1, maxQueueWaitMs: LONG_MS });

    await rm(modelsDir);
    process.kill(small.pids[0]!, "SIGKILL");
    await vi.waitFor(() => expect(small.restarts).toBeGreaterThanOrEqual(2), WAIT);
    const delayed = small.embed(photograph(3));
    await symlink(DEFAULT_MODELS_DIR, modelsDir);
    expect((await delayed).facesFound).toBe(3);

    const running = small.embed(photograph(3));
    const waiting = errorFrom(small.embed(photograph(3)));
    const closing = small.close();
    expect(await waiting).toMatchObject({ name: "QueueError", kind: "closed" });
    expect((await running).facesFound).toBe(3);
    await closing;
    await small.close();
    await expect(small.embed(photograph(3))).rejects.toMatchObject({ kind: "closed" });
    expect([small.busy, small.waiting, small.pids.length]).toEqual([0, 0, 0]);
    expect(countWorkerProcesses()).toBe(others);
  } finally {
    await rm(folder, { recursive: true });
  }
});
