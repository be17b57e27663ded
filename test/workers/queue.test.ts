import { setImmediate as settle } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MAX_WAITING } from "../../src/workers/load-shedder.ts";
import { Queue } from "../../src/workers/queue.ts";
import { QueueError } from "../../src/workers/queue-error.ts";

const REASON = new Error("cancelled");
const NO_LIMIT_MS = 1_000_000;

/** Creates a queue with one worker and a job that keeps it busy. */
async function createBusyQueue(maxWaitMs = NO_LIMIT_MS): Promise<Queue<string>> {
  const queue = new Queue<string>(maxWaitMs);
  queue.addWorker("worker");
  await queue.acquire();
  return queue;
}

/** A queue whose workers run each job until it is ended. */
class FakeWorkers {
  readonly ended: string[] = [];
  readonly queue = new Queue<string>(NO_LIMIT_MS);
  readonly #callers = new Map<string, string>();

  constructor(...workers: string[]) {
    for (const worker of workers) this.queue.addWorker(worker);
  }

  /** Adds one job of each caller, in order. */
  async add(...callers: string[]): Promise<void> {
    for (const caller of callers) {
      this.#run(caller).catch(() => {});
      await settle();
    }
  }

  /** Ends the job of a worker. */
  async end(worker: string): Promise<void> {
    this.ended.push(this.at(worker)!);
    this.#callers.delete(worker);
    this.queue.release(worker);
    await settle();
  }

  /** The caller whose job a worker runs. */
  at(worker: string): string | undefined {
    return this.#callers.get(worker);
  }

  async #run(caller: string): Promise<void> {
    this.#callers.set(await this.queue.acquire({ caller }), caller);
  }
}

describe("a queue", () => {
  test("assigns an idle worker at once, whatever the wait limit", async () => {
    const queue = new Queue<string>(0);
    queue.addWorker("worker");
    expect(queue.busy).toBe(0);
    expect(await queue.acquire()).toBe("worker");
    expect(queue.busy).toBe(1);
    expect(queue.waiting).toBe(0);
  });

  test("serves the jobs of one caller in the order of arrival", async () => {
    const queue = await createBusyQueue();
    const all = [1, 2, 3].map(() => queue.acquire());
    expect(queue.waiting).toBe(3);
    for (const [i, one] of all.entries()) {
      queue.release("worker");
      expect(await one).toBe("worker");
      expect(queue.waiting).toBe(2 - i);
    }
    expect(queue.busy).toBe(1);
    queue.release("worker");
    expect(queue.busy).toBe(0);
  });

  test("serves callers in turn, however many jobs each has", async () => {
    const workers = new FakeWorkers("worker");
    await workers.add("first", "heavy", "heavy", "heavy", "light", "heavy", "other");
    for (let job = 0; job < 7; job++) await workers.end("worker");
    expect(workers.ended).toEqual(["first", "heavy", "light", "other", "heavy", "heavy", "heavy"]);
  });

  test("serves a new caller before the next job of a caller that is being served", async () => {
    const workers = new FakeWorkers("worker");
    await workers.add("heavy", "heavy");
    for (let round = 0; round < 3; round++) {
      await workers.add("light");
      await workers.end("worker");
      await workers.add("heavy");
      await workers.end("worker");
    }
    expect(workers.ended).toEqual(["heavy", "light", "heavy", "light", "heavy", "light"]);
  });

  test("serves a new caller also on a second worker, while the other goes on with a long job", async () => {
    const workers = new FakeWorkers("slow", "fast");
    await workers.add("heavy", "first", "heavy", "light");
    await workers.end("fast");
    expect(workers.at("fast")).toBe("light");
    // The heavy caller has its turn before a caller that comes when it is no longer served.
    await workers.end("slow");
    await workers.add("late");
    await workers.end("fast");
    expect([workers.at("slow"), workers.at("fast")]).toEqual(["heavy", "late"]);
  });

  test("serves waiting callers in the order of arrival", async () => {
    const workers = new FakeWorkers("worker");
    await workers.add("other", "early", "late");
    for (let job = 0; job < 3; job++) await workers.end("worker");
    expect(workers.ended).toEqual(["other", "early", "late"]);
  });

  test("drops a job whose signal is aborted and serves the next", async () => {
    const queue = await createBusyQueue();
    const controller = new AbortController();
    const before = queue.acquire();
    const cancelled = queue.acquire({ signal: controller.signal });
    const next = queue.acquire();
    controller.abort(REASON);
    expect(queue.waiting).toBe(2);
    await expect(cancelled).rejects.toBe(REASON);
    for (const job of [before, next]) {
      queue.release("worker");
      expect(await job).toBe("worker");
    }
  });

  test("does not accept a job whose signal is already aborted", async () => {
    const queue = new Queue<string>(NO_LIMIT_MS);
    queue.addWorker("worker");
    await expect(queue.acquire({ signal: AbortSignal.abort(REASON) })).rejects.toBe(REASON);
    expect(queue.busy).toBe(0);
    expect(await queue.acquire()).toBe("worker");
  });

  test("keeps a worker for a job whose signal is aborted later", async () => {
    const queue = await createBusyQueue();
    const controller = new AbortController();
    const assigned = queue.acquire({ signal: controller.signal });
    queue.release("worker");
    controller.abort(REASON);
    expect(await assigned).toBe("worker");
    expect(queue.busy).toBe(1);
  });

  test("never assigns a worker that was removed", async () => {
    const queue = new Queue<string>(NO_LIMIT_MS);
    queue.addWorker("lost");
    queue.removeWorker("lost");
    const waiting = queue.acquire();
    queue.addWorker("new");
    expect(await waiting).toBe("new");
  });

  test("does not reuse a worker that was removed while it was busy", async () => {
    const queue = await createBusyQueue();
    queue.removeWorker("worker");
    queue.release("worker");
    expect(queue.busy).toBe(0);
    void queue.acquire();
    expect(queue.waiting).toBe(1);
  });
});

describe("load shedding", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => void vi.useRealTimers());

  /** Creates a queue whose only worker is busy and has run jobs of these durations. */
  async function createQueueAfter(durationsMs: readonly number[], maxWaitMs: number) {
    const queue = new Queue<string>(maxWaitMs);
    queue.addWorker("worker");
    await queue.acquire();
    for (const durationMs of durationsMs) {
      vi.advanceTimersByTime(durationMs);
      queue.release("worker");
      await queue.acquire();
    }
    return queue;
  }

  const EIGHT_OF_100_MS = Array.from({ length: 8 }, () => 100);

  /** Adds jobs of a caller. Returns a list to which the errors of rejected jobs are added. */
  function addJobs(queue: Queue<string>, count: number, caller = "") {
    const rejected: QueueError[] = [];
    for (let job = 0; job < count; job++) {
      queue.acquire({ caller }).catch((error: QueueError) => rejected.push(error));
    }
    return rejected;
  }

  test("rejects a job whose estimated wait exceeds the limit and states a delay before a retry", async () => {
    const queue = await createQueueAfter(EIGHT_OF_100_MS, 600);
    // The running job takes another 100 ms. Four waiting jobs count as 460 ms, five as 575 ms.
    addJobs(queue, 4);
    expect(queue.rejectionFor("")).toBeUndefined();
    addJobs(queue, 1);
    expect(queue.waiting).toBe(5);
    const rejected = queue.acquire();
    await expect(rejected).rejects.toBeInstanceOf(QueueError);
    await expect(rejected).rejects.toMatchObject({ name: "QueueError", kind: "overloaded" });
    const retries = Array.from({ length: 100 }, () => queue.rejectionFor("")!.retryAfterMs);
    expect(Math.min(...retries)).toBeGreaterThanOrEqual(300);
    expect(Math.max(...retries)).toBeLessThanOrEqual(900);
    expect(new Set(retries).size, "jitter").toBeGreaterThan(20);
    const { retryAfterMs } = (await rejected.catch((error: unknown) => error)) as QueueError;
    expect(retryAfterMs).toBeGreaterThanOrEqual(300);
    // Now the running job is expected to end.
    vi.advanceTimersByTime(100);
    expect(queue.rejectionFor("")).toBeUndefined();
  });

  test("rejects nothing until it can estimate how long jobs take", async () => {
    const queue = await createQueueAfter([5000, 100, 100, 100, 100, 100, 100], 500);
    expect(addJobs(queue, 200)).toEqual([]);
    expect(queue.waiting).toBe(200);
  });

  test.each([
    ["the first job", [5000, ...EIGHT_OF_100_MS]],
    ["a later job", [...EIGHT_OF_100_MS, ...EIGHT_OF_100_MS, ...EIGHT_OF_100_MS, 5000]],
  ])("does not overreact when %s is slow", async (_, costs) => {
    const queue = await createQueueAfter(costs, 1000);
    addJobs(queue, 4);
    expect(queue.rejectionFor("")).toBeUndefined();
  });

  test("counts a worker less, the longer its job is overdue", async () => {
    const queue = await createQueueAfter(EIGHT_OF_100_MS, 500);
    vi.advanceTimersByTime(1000);
    expect(queue.rejectionFor(""), "a short pause").toBeUndefined();
    vi.advanceTimersByTime(200);
    expect(queue.rejectionFor("")).toBeDefined();
    queue.addWorker("another");
    expect(queue.rejectionFor("")).toBeUndefined();
    void queue.acquire();
    addJobs(queue, 3);
    expect(queue.rejectionFor(""), "the other worker does the work").toBeUndefined();
  });

  test("expects the replacement of a lost worker within the wait limit", async () => {
    const queue = await createQueueAfter(EIGHT_OF_100_MS, 500);
    queue.removeWorker("worker");
    expect(addJobs(queue, 4)).toEqual([]);
    expect(queue.rejectionFor("")).toBeUndefined();
    vi.advanceTimersByTime(501);
    expect(queue.rejectionFor("")).toBeDefined();
    queue.addWorker("replacement");
    expect(queue.rejectionFor("")).toBeUndefined();
  });

  test("displaces the last job of the caller with most jobs for a caller with fewer", async () => {
    const queue = await createQueueAfter(EIGHT_OF_100_MS, 250);
    const first = queue.acquire({ caller: "heavy" });
    // Two jobs are within the limit and a third one is not.
    const last = queue.acquire({ caller: "heavy" });
    expect(["heavy", "light"].map((caller) => queue.rejectionFor(caller) === undefined)).toEqual([
      false,
      true,
    ]);
    await expect(queue.acquire({ caller: "heavy" })).rejects.toMatchObject({ kind: "overloaded" });
    const light = queue.acquire({ caller: "light" });
    await expect(last).rejects.toMatchObject({ kind: "overloaded", retryAfterMs: expect.any(Number) });
    await expect(queue.acquire({ caller: "other" })).rejects.toMatchObject({ kind: "overloaded" });
    for (const job of [first, light]) {
      queue.release("worker");
      expect(await job).toBe("worker");
    }
  });

  test("applies the fair share only once the limit is exceeded", async () => {
    const queue = await createQueueAfter(EIGHT_OF_100_MS, 1000);
    const rejected = [addJobs(queue, 5, "heavy"), addJobs(queue, 3, "light")];
    await settle();
    expect(rejected).toEqual([[], []]);
  });

  test("does not reject a continued job, and displaces it only if there is no other", async () => {
    const queue = await createQueueAfter(EIGHT_OF_100_MS, 250);
    const rejected: string[] = [];
    const add = (caller: string, isContinued: boolean, name: string) =>
      queue.acquire({ caller, isContinued }).catch(() => rejected.push(name));
    void add("heavy", false, "first");
    void add("heavy", true, "second");
    void add("heavy", true, "third");
    await settle();
    expect(rejected).toEqual([]);
    void add("a", false, "a");
    void add("b", false, "b");
    await settle();
    expect(rejected).toEqual(["first", "third"]);
  });

  test("immediately rejects a job that would start after its deadline", async () => {
    const queue = await createQueueAfter(EIGHT_OF_100_MS, NO_LIMIT_MS);
    addJobs(queue, 1);
    const nowMs = performance.now();
    // The running and the waiting job take 200 ms.
    expect(queue.rejectionFor("", nowMs + 199)).toBeDefined();
    await expect(queue.acquire({ deadlineMs: nowMs + 199 })).rejects.toMatchObject({ kind: "overloaded" });
    expect(queue.rejectionFor("", nowMs + 201)).toBeUndefined();
    void queue.acquire({ deadlineMs: nowMs + 201 });
    expect(queue.waiting).toBe(2);
    await expect(queue.acquire({ deadlineMs: nowMs + 201 })).rejects.toMatchObject({ kind: "overloaded" });
    const late = queue.acquire({ deadlineMs: nowMs + 201, isContinued: true });
    await expect(late).rejects.toMatchObject({ kind: "overloaded" });
  });

  test("rejects a continued job after its deadline, even if a worker is idle", async () => {
    const queue = new Queue<string>(NO_LIMIT_MS);
    queue.addWorker("worker");
    const late = queue.acquire({ deadlineMs: performance.now() - 1, isContinued: true });
    await expect(late).rejects.toMatchObject({ kind: "overloaded" });
    expect(queue.busy).toBe(0);
  });

  test("counts against a deadline only the jobs that are served before", async () => {
    const queue = await createQueueAfter(EIGHT_OF_100_MS, NO_LIMIT_MS);
    addJobs(queue, 20, "heavy");
    const deadlineMs = performance.now() + 500;
    expect(queue.rejectionFor("heavy", deadlineMs)).toBeDefined();
    expect(queue.rejectionFor("light", deadlineMs)).toBeUndefined();
  });

  test("limits the number of waiting jobs, whatever the estimate", async () => {
    const queue = await createBusyQueue();
    expect(addJobs(queue, MAX_WAITING)).toEqual([]);
    expect(queue.rejectionFor("")).toBeDefined();
    await expect(queue.acquire()).rejects.toMatchObject({ kind: "overloaded" });
    expect(queue.rejectionFor("light")).toBeUndefined();
  });
});

describe("closing the queue", () => {
  test("rejects waiting and later jobs", async () => {
    const queue = await createBusyQueue();
    const waiting = queue.acquire();
    void queue.close();
    await expect(waiting).rejects.toMatchObject({ kind: "closed" });
    await expect(queue.acquire()).rejects.toMatchObject({ kind: "closed" });
    expect(queue.waiting).toBe(0);
  });

  test.each(["release", "removeWorker"] as const)("waits until no worker is busy (%s)", async (method) => {
    const queue = await createBusyQueue();
    let isClosed = false;
    const closing = queue.close().then(() => {
      isClosed = true;
    });
    await settle();
    expect(isClosed).toBe(false);
    if (method === "release") queue.release("worker");
    else queue.removeWorker("worker");
    await closing;
    await queue.close();
  });
});
