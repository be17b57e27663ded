import { expect, onTestFinished, test, vi } from "vitest";
import { type BatchItem, canRetry, countItems } from "../../src/web/playground/batch/batch-item.ts";
import { createBatchRunner } from "../../src/web/playground/batch/batch-runner.ts";
import { reactionTo } from "../../src/web/playground/batch/failure-policy.ts";
import { type FailureFacts, RequestError } from "../../src/web/site/request-error.ts";

const ANALYSIS = { imageSize: { width: 1, height: 1 }, faces: [], facesFound: 0 };

test("a few photos are in flight at a time, and all are done in the end", async () => {
  let [running, most] = [0, 0];
  const { items, run } = batchOf(20, async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running--;
    return ANALYSIS;
  });
  expect((await run()).status.name).toBe("finished");
  expect(countItems(items)).toEqual({ waiting: 0, running: 0, done: 20, failed: 0 });
  expect(most).toBe(3);
});

test("each photo fails alone, and only where sending it again can help it can be retried", async () => {
  const { items, run } = batchOf(5, async ({ file }) => {
    if (file.name === "1") throw failure({ kind: "service", code: "2003", status: 422 });
    if (file.name === "2") throw new Error("2 is not an image.");
    if (file.name === "4")
      throw failure({ kind: "service", code: "5000", isRetryable: true, retryAfterSeconds: 0 });
    return ANALYSIS;
  });
  vi.spyOn(Math, "random").mockReturnValue(0);
  onTestFinished(() => void vi.restoreAllMocks());
  await run();
  expect(items.map(({ state }) => state.name)).toEqual(["done", "failed", "failed", "done", "failed"]);
  expect(items.map(canRetry)).toEqual([false, false, false, false, true]);
  expect(items[1]!.state).toMatchObject({ error: { message: "Failed.", code: "2003" } });
  expect(items[2]!.state).toMatchObject({ error: { message: "2 is not an image." } });
});

test("a stopped batch cancels what is in flight and continues where it was", async () => {
  const sent: string[] = [];
  const { items, run } = batchOf(6, ({ file }, signal) => {
    sent.push(file.name);
    if (sent.length < 4) return Promise.resolve(ANALYSIS);
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(failure({ kind: "cancelled" })));
      if (sent.length > 6) resolve(ANALYSIS);
    });
  });
  const runner = await run((_, { waiting, running }) => running === 3 && waiting === 0);
  runner.stop();
  expect(countItems(items)).toEqual({ waiting: 3, running: 0, done: 3, failed: 0 });
  expect(runner.status).toEqual({ name: "stopped" });
  await run();
  expect(countItems(items).done).toBe(6);
});

test("a rejected user stops the batch and fails no photo", async () => {
  const { items, run } = batchOf(5, async () => {
    throw failure({ kind: "service", code: "4002", status: 401 });
  });
  const { status } = await run();
  expect(status).toMatchObject({ name: "stopped", reason: { message: "Failed." } });
  expect(countItems(items)).toEqual({ waiting: 5, running: 0, done: 0, failed: 0 });
});

test("nothing is sent before the time of Retry-After", async () => {
  vi.useFakeTimers();
  try {
    let isBusy = true;
    const analyze = vi.fn(async () => {
      if (isBusy)
        throw failure({
          kind: "service",
          status: 429,
          code: "4005",
          isRetryable: true,
          retryAfterSeconds: 2,
        });
      return ANALYSIS;
    });
    const { items, start } = batchOf(5, analyze);
    const runner = start();
    await vi.advanceTimersByTimeAsync(0);
    expect(runner.status.name).toBe("delayed");
    expect(analyze).toHaveBeenCalledTimes(3);
    isBusy = false;
    await vi.advanceTimersByTimeAsync(1999);
    expect(analyze).toHaveBeenCalledTimes(3);
    await vi.advanceTimersByTimeAsync(1100);
    expect(runner.status.name).toBe("finished");
    expect(countItems(items).done).toBe(5);
  } finally {
    vi.useRealTimers();
  }
});

test("photos added to a running batch are analysed as well", async () => {
  const { items, run } = batchOf(1, async () => {
    if (items.length < 5) items.push(waitingItem(String(items.length)));
    return ANALYSIS;
  });
  await run();
  expect(countItems(items)).toEqual({ waiting: 0, running: 0, done: 5, failed: 0 });
});

test.each([
  ["a damaged photo", { kind: "service", code: "2003" }, 1, "fail"],
  [
    "a busy service",
    { kind: "service", code: "5001", status: 503, isRetryable: true, retryAfterSeconds: 1 },
    9,
    "retry",
  ],
  ["the quota of the month", { kind: "service", code: "4004", status: 429 }, 1, "stop"],
  ["a long wait", { kind: "service", code: "5002", isRetryable: true, retryAfterSeconds: 600 }, 1, "stop"],
  ["no connection at first", { kind: "unreachable", isRetryable: true }, 1, "retry"],
  ["no connection in the end", { kind: "unreachable", isRetryable: true }, 4, "stop"],
  ["a proxy that rejects", { kind: "proxy", status: 403 }, 1, "stop"],
  ["a timeout in the end", { kind: "timeout", isRetryable: true }, 4, "fail"],
] as const)("after %s, attempt and facts decide", (_, facts, attempt, name) => {
  expect(reactionTo(failure(facts), attempt).name).toBe(name);
});

function failure(facts: Partial<FailureFacts> & Pick<FailureFacts, "kind">): RequestError {
  return new RequestError("Failed.", { isRetryable: false, ...facts });
}

function waitingItem(name: string): BatchItem {
  return { file: new File([], name), state: { name: "waiting" } };
}

type Analyze = Parameters<typeof createBatchRunner>[1]["analyze"];
type BatchRunner = ReturnType<typeof createBatchRunner>;
type IsReached = (runner: BatchRunner, counts: ReturnType<typeof countItems>) => boolean;

function batchOf(count: number, analyze: Analyze) {
  const items = Array.from({ length: count }, (_, i) => waitingItem(String(i)));
  let onChange = () => {};
  const runner = createBatchRunner(items, {
    analyze,
    onItem: () => onChange(),
    onStatus: () => onChange(),
    onDefect: (error) => {
      throw error;
    },
  });
  const start = () => {
    runner.start();
    return runner;
  };
  const hasEnded: IsReached = ({ status }) => status.name === "finished" || status.name === "stopped";
  return {
    items,
    start,
    /** Starts the batch and waits until it has ended, or has reached a point. */
    run: (isReached: IsReached = hasEnded) =>
      new Promise<BatchRunner>((resolve) => {
        onChange = () => {
          if (isReached(runner, countItems(items))) resolve(runner);
        };
        start();
      }),
  };
}
