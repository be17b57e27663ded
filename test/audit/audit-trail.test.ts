import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { AuditTrail, type AuditTrailOptions } from "../../src/audit/audit-trail.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** An output that can fail or wait, and a trail on it. */
function openTrail(options: AuditTrailOptions) {
  const appended: string[] = [];
  const state = { fault: undefined as Error | undefined, hold: Promise.resolve() };
  const output = {
    append: async (lines: string) => {
      await state.hold;
      if (state.fault) throw state.fault;
      appended.push(lines);
    },
    close: async () => {},
  };
  const events: string[] = [];
  const trail = new AuditTrail(output, {
    onFailure: (cause) => events.push(`failure: ${(cause as Error).message}`),
    onRecovery: () => events.push("recovery"),
    onLoss: (lines) => events.push(`loss: ${lines}`),
    ...options,
  });
  return { trail, appended, events, state };
}

const FULL = new Error("the disk is full");
const isGap = (line: string) => JSON.parse(line).event === "audit gap";

test("lines that wait are written together", async () => {
  const { trail, appended } = openTrail({ policy: "stop" });
  const first = trail.write("1\n");
  await Promise.all([first, trail.write("2\n"), trail.keep("3\n")]);
  expect(appended).toEqual(["1\n", "2\n3\n"]);
});

test("stop: operations are rejected, and what has happened is written later, with the gap", async () => {
  const { trail, appended, events, state } = openTrail({ policy: "stop" });
  state.fault = FULL;
  await expect(trail.write("start\n")).rejects.toThrow("The audit trail cannot be written: the disk is full");
  expect(trail.isFailing).toBe(true);
  expect(() => trail.requireAvailable()).toThrow("the disk is full");
  await expect(trail.write("another start\n")).rejects.toThrow("the disk is full");
  await Promise.all([trail.keep("end 1\n"), trail.keep("end 2\n")]);
  await vi.advanceTimersByTimeAsync(3_000);
  expect([appended, events]).toEqual([[], ["failure: the disk is full"]]);

  state.fault = undefined;
  await vi.advanceTimersByTimeAsync(1_000);
  const [end1, end2, gap, ...others] = appended.join("").split("\n");
  expect([end1, end2, ...others]).toEqual(["end 1", "end 2", ""]);
  expect(JSON.parse(gap!)).toEqual({
    time: expect.any(String),
    event: "audit gap",
    since: expect.any(String),
    lost: 0,
  });
  expect(events).toEqual(["failure: the disk is full", "recovery"]);
  expect(trail.isFailing).toBe(false);
  trail.requireAvailable();
  await trail.write("start\n");
});

test("a long failure leaves no listeners behind", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  const { trail, state } = openTrail({ policy: "stop" });
  state.fault = FULL;
  await trail.keep("end\n");
  await vi.advanceTimersByTimeAsync(20_000);
  await new Promise((resolve) => process.nextTick(resolve));
  expect(warnings).toEqual([]);
});

test("continue: operations go on, and the lines are written later up to a limit", async () => {
  const { trail, appended, state } = openTrail({ policy: "continue" });
  state.fault = FULL;
  const line = `${"x".repeat(1024 * 1024 - 1)}\n`;
  for (let i = 0; i < 10; i++) await trail.write(line);
  trail.requireAvailable();
  state.fault = undefined;
  await vi.advanceTimersByTimeAsync(1_000);
  const lines = appended.join("").trim().split("\n");
  expect(lines.slice(0, -1).map(({ length }) => length)).toEqual(Array(8).fill(line.length - 1));
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({ event: "audit gap", lost: 2 });
  expect(trail.lines).toEqual({ written: 8, lost: 2 });
});

test("stop: lines that wait for a slow write are limited, too", async () => {
  const { trail, state } = openTrail({ policy: "stop" });
  const { promise, release } = held();
  state.hold = promise;
  const line = `${"x".repeat(1024 * 1024 - 1)}\n`;
  const writes = Array.from({ length: 12 }, () => trail.write(line));
  expect((await Promise.allSettled(writes)).map(({ status }) => status)).toEqual(Array(12).fill("rejected"));
  release();
  await vi.advanceTimersByTimeAsync(0);
  expect(trail.isFailing).toBe(false);
});

test("a write that takes too long counts as failed until it ends", async () => {
  const { trail, appended, events, state } = openTrail({ policy: "stop" });
  const { promise, release } = held();
  state.hold = promise;
  const stalled = expect(trail.write("start\n")).rejects.toThrow("more than 5 s");
  const behind = expect(trail.write("behind\n")).rejects.toThrow("more than 5 s");
  await vi.advanceTimersByTimeAsync(5_000);
  await stalled;
  await behind;
  await trail.keep("end\n");
  release();
  await vi.advanceTimersByTimeAsync(0);
  const lines = appended.join("").trim().split("\n");
  expect(lines.slice(0, 2)).toEqual(["start", "end"]);
  expect(lines.slice(2).map(isGap)).toEqual([true]);
  expect(events).toEqual(["failure: a write takes more than 5 s", "recovery"]);
});

test("the end writes what waits, and reports what is lost", async () => {
  const { trail, appended, events, state } = openTrail({ policy: "stop" });
  const last = trail.keep("last\n");
  await trail.close();
  await last;
  expect([appended, events]).toEqual([["last\n"], []]);

  const failing = openTrail({ policy: "stop" });
  failing.state.fault = FULL;
  await failing.trail.keep("lost\n");
  const closing = failing.trail.close();
  await vi.advanceTimersByTimeAsync(2_000);
  await closing;
  expect(failing.events).toEqual(["failure: the disk is full", "loss: 1"]);
  expect(state.fault).toBeUndefined();
});

function held() {
  let release = () => {};
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { promise, release };
}
