import { setImmediate as settle } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MAX_WAITING } from "../../src/workers/load-shedder.ts";
import { type Assignment, Queue } from "../../src/workers/queue.ts";
import { QueueError } from "../../src/workers/queue-error.ts";

const REASON = new Error("cancelled");
const NO_LIMIT_MS = 1_000_000;

function failOnRevoke(worker: string): void {
  expect.fail(`a job of ${worker} is revoked`);
}

/** Creates a queue with one worker and a job that keeps it busy. */
async function createBusyQueue(
  maxWaitMs = NO_LIMIT_MS,
): Promise<{ queue: Queue<string>; running: Assignment<string> }> {
  const queue = new Queue<string>(maxWaitMs, failOnRevoke);
  queue.addWorker("worker");
  return { queue, running: await queue.acquire() };
}

/** A queue with workers that run their jobs in order and give up revoked ones. */
class FakeWorkers {
  readonly ended: string[] = [];
  readonly queue = new Queue<string>(NO_LIMIT_MS, (worker) => this.#giveUp(worker));
  readonly #jobs = new Map<string, { readonly caller: string; readonly assignment: Assignment<string> }[]>();

  constructor(...workers: string[]) {
    for (const worker of workers) {
      this.#jobs.set(worker, []);
      this.queue.addWorker(worker);
    }
  }

  /** Adds one job of each caller, in order. */
  async add(...callers: string[]): Promise<void> {
    for (const caller of callers) {
      this.#run(caller, "new").catch(() => {});
      await settle();
    }
  }

  /** Ends the running job of a worker. */
  async end(worker: string): Promise<void> {
    const { caller, assignment } = this.#jobs.get(worker)!.shift()!;
    expect(assignment.startedMs).toBeDefined();
    this.ended.push(caller);
    this.queue.end(assignment);
    await settle();
  }

  /** The callers of a worker's jobs, the running one first. */
  at(worker: string): string[] {
    return this.#jobs.get(worker)!.map(({ caller }) => caller);
  }

  async #run(caller: string, state: "new" | "revoked"): Promise<void> {
    const assignment = await this.queue.acquire({ caller, state });
    this.#jobs.get(assignment.worker)!.push({ caller, assignment });
  }

  #giveUp(worker: string): void {
    const { caller, assignment } = this.#jobs.get(worker)!.pop()!;
    void settle().then(() => {
      this.queue.end(assignment);
      return this.#run(caller, "revoked");
    });
  }
}

describe("a queue", () => {
  test("assigns an idle worker at once, whatever the wait limit", async () => {
    const queue = new Queue<string>(0, failOnRevoke);
    queue.addWorker("worker");
    expect(queue.busy).toBe(0);
    const assignment = await queue.acquire();
    expect(assignment.worker).toBe("worker");
    expect(assignment.startedMs).toBeDefined();
    expect(queue.busy).toBe(1);
    expect(queue.waiting).toBe(0);
  });

  test("serves the jobs of one caller in the order of arrival", async () => {
    let { queue, running } = await createBusyQueue();
    const all = [1, 2, 3].map(() => queue.acquire());
    expect(queue.waiting).toBe(3);
    for (const [i, one] of all.entries()) {
      queue.end(running);
      running = await one;
      expect(running.startedMs).toBeDefined();
      expect(queue.waiting).toBe(2 - i);
    }
    expect(queue.busy).toBe(1);
    queue.end(running);
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

  test("serves waiting callers in the order of arrival", async () => {
    const workers = new FakeWorkers("worker");
    await workers.add("other", "early", "late");
    for (let job = 0; job < 3; job++) await workers.end("worker");
    expect(workers.ended).toEqual(["other", "early", "late"]);
  });

  test("drops a job whose signal is aborted and serves the next", async () => {
    const { queue, running } = await createBusyQueue();
    const controller = new AbortController();
    const before = queue.acquire();
    const cancelled = queue.acquire({ signal: controller.signal });
    const next = queue.acquire();
    controller.abort(REASON);
    expect(queue.waiting).toBe(2);
    await expect(cancelled).rejects.toBe(REASON);
    queue.end(running);
    queue.end(await before);
    expect((await next).startedMs).toBeDefined();
  });

  test("does not accept a job whose signal is already aborted", async () => {
    const queue = new Queue<string>(NO_LIMIT_MS, failOnRevoke);
    queue.addWorker("worker");
    await expect(queue.acquire({ signal: AbortSignal.abort(REASON) })).rejects.toBe(REASON);
    expect(queue.busy).toBe(0);
    expect((await queue.acquire()).worker).toBe("worker");
  });

  test("keeps an assignment if the signal is aborted later", async () => {
    const { queue, running } = await createBusyQueue();
    const controller = new AbortController();
    const assigned = queue.acquire({ signal: controller.signal });
    queue.end(running);
    controller.abort(REASON);
    expect((await assigned).worker).toBe("worker");
    expect(queue.busy).toBe(1);
  });

  test("never assigns a worker that was removed", async () => {
    const queue = new Queue<string>(NO_LIMIT_MS, failOnRevoke);
    queue.addWorker("lost");
    queue.removeWorker("lost");
    const waiting = queue.acquire();
    queue.addWorker("new");
    expect((await waiting).worker).toBe("new");
  });

  test("does not reuse a worker that was removed while it was busy", async () => {
    const { queue, running } = await createBusyQueue();
    queue.removeWorker("worker");
    queue.end(running);
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
    const queue = new Queue<string>(maxWaitMs, () => {});
    queue.addWorker("worker");
    let last = await queue.acquire();
    for (const durationMs of durationsMs) {
      vi.advanceTimersByTime(durationMs);
      queue.end(last);
      last = await queue.acquire();
    }
    return { queue, running: last };
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
    const { queue } = await createQueueAfter(EIGHT_OF_100_MS, 600);
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
    const { queue } = await createQueueAfter([5000, 100, 100, 100, 100, 100, 100], 500);
    expect(addJobs(queue, 200)).toEqual([]);
    expect(queue.waiting).toBe(200);
  });

  test.each([
    ["the first job", [5000, ...EIGHT_OF_100_MS]],
    ["a later job", [...EIGHT_OF_100_MS, ...EIGHT_OF_100_MS, ...EIGHT_OF_100_MS, 5000]],
  ])("does not overreact when %s is slow", async (_, costs) => {
    const { queue } = await createQueueAfter(costs, 1000);
    addJobs(queue, 4);
    expect(queue.rejectionFor("")).toBeUndefined();
  });

  test("counts a worker less, the longer its job is overdue", async () => {
    const { queue } = await createQueueAfter(EIGHT_OF_100_MS, 500);
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
    const { queue } = await createQueueAfter(EIGHT_OF_100_MS, 500);
    queue.removeWorker("worker");
    expect(addJobs(queue, 4)).toEqual([]);
    expect(queue.rejectionFor("")).toBeUndefined();
    vi.advanceTimersByTime(501);
    expect(queue.rejectionFor("")).toBeDefined();
    queue.addWorker("replacement");
    expect(queue.rejectionFor("")).toBeUndefined();
  });

  test("displaces the last job of the caller with most jobs for a caller with fewer", async () => {
    const { queue, running } = await createQueueAfter(EIGHT_OF_100_MS, 250);
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
    queue.end(running);
    queue.end(await first);
    expect((await light).startedMs).toBeDefined();
  });

  test("applies the fair share only once the limit is exceeded", async () => {
    const { queue } = await createQueueAfter(EIGHT_OF_100_MS, 1000);
    const rejected = [addJobs(queue, 5, "heavy"), addJobs(queue, 3, "light")];
    await settle();
    expect(rejected).toEqual([[], []]);
  });

  test("does not reject a continued job, and displaces it only if there is no other", async () => {
    const { queue } = await createQueueAfter(EIGHT_OF_100_MS, 250);
    const rejected: string[] = [];
    const add = (caller: string, state: "new" | "continued", name: string) =>
      queue.acquire({ caller, state }).catch(() => rejected.push(name));
    void add("heavy", "new", "first");
    void add("heavy", "new", "second");
    void add("heavy", "continued", "third");
    void add("heavy", "continued", "fourth");
    await settle();
    expect(rejected).toEqual([]);
    void add("a", "new", "a");
    void add("b", "new", "b");
    await settle();
    // The first was assigned in advance.
    expect(rejected).toEqual(["second", "fourth"]);
  });

  test("immediately rejects a job that would start after its deadline", async () => {
    const { queue } = await createQueueAfter(EIGHT_OF_100_MS, NO_LIMIT_MS);
    addJobs(queue, 1);
    const nowMs = performance.now();
    // The running and the waiting job take 200 ms.
    expect(queue.rejectionFor("", nowMs + 199)).toBeDefined();
    await expect(queue.acquire({ deadlineMs: nowMs + 199 })).rejects.toMatchObject({ kind: "overloaded" });
    expect(queue.rejectionFor("", nowMs + 201)).toBeUndefined();
    void queue.acquire({ deadlineMs: nowMs + 201 });
    expect(queue.waiting).toBe(2);
    await expect(queue.acquire({ deadlineMs: nowMs + 201 })).rejects.toMatchObject({ kind: "overloaded" });
    const late = queue.acquire({ deadlineMs: nowMs + 201, state: "continued" });
    await expect(late).rejects.toMatchObject({ kind: "overloaded" });
  });

  test("rejects a continued job after its deadline, even if a worker is idle", async () => {
    const queue = new Queue<string>(NO_LIMIT_MS, failOnRevoke);
    queue.addWorker("worker");
    const late = queue.acquire({ deadlineMs: performance.now() - 1, state: "continued" });
    await expect(late).rejects.toMatchObject({ kind: "overloaded" });
    expect(queue.busy).toBe(0);
  });

  test("counts against a deadline only the jobs that are served before", async () => {
    const { queue } = await createQueueAfter(EIGHT_OF_100_MS, NO_LIMIT_MS);
    addJobs(queue, 20, "heavy");
    const deadlineMs = performance.now() + 500;
    expect(queue.rejectionFor("heavy", deadlineMs)).toBeDefined();
    expect(queue.rejectionFor("light", deadlineMs)).toBeUndefined();
  });

  test("limits the number of waiting jobs, whatever the estimate", async () => {
    const { queue } = await createBusyQueue();
    expect(addJobs(queue, MAX_WAITING)).toEqual([]);
    expect(queue.rejectionFor("")).toBeDefined();
    await expect(queue.acquire()).rejects.toMatchObject({ kind: "overloaded" });
    expect(queue.rejectionFor("light")).toBeUndefined();
  });
});

describe("assignment in advance", () => {
  test("gives each worker one job if more jobs wait than there are workers; they still count as waiting", async () => {
    const workers = new FakeWorkers("a", "b");
    await workers.add("one", "one", "one", "one");
    expect([workers.at("a"), workers.at("b")]).toEqual([["one"], ["one"]]);
    await workers.add("one", "one", "one", "one");
    expect([workers.at("a"), workers.at("b")]).toEqual([
      ["one", "one"],
      ["one", "one"],
    ]);
    expect([workers.queue.busy, workers.queue.waiting]).toEqual([2, 6]);
  });

  test("is revoked when a job that was assigned later has ended", async () => {
    const workers = new FakeWorkers("slow", "fast");
    await workers.add("slow", ..."abcdefg");
    expect(workers.at("slow")).toEqual(["slow", "b"]);
    for (let job = 0; job < 7; job++) {
      await workers.end("fast");
      await settle();
    }
    expect(workers.ended).toEqual(["a", "c", "d", "e", "b", "f", "g"]);
    expect(workers.at("slow")).toEqual(["slow"]);
  });

  test("is revoked if another worker is idle", async () => {
    const workers = new FakeWorkers("slow", "fast");
    await workers.add("slow", "a", "b");
    const controller = new AbortController();
    const cancelled = [1, 2].map(() => workers.queue.acquire({ signal: controller.signal }).catch(() => {}));
    await settle();
    expect(workers.at("slow")).toEqual(["slow", "b"]);
    controller.abort(REASON);
    await Promise.all(cancelled);
    await workers.end("fast");
    await settle();
    expect([workers.at("slow"), workers.at("fast")]).toEqual([["slow"], ["b"]]);
  });

  test("is revoked for a new caller, at the worker with the oldest running job", async () => {
    const workers = new FakeWorkers("a", "b");
    await workers.add(...Array.from({ length: 8 }, () => "heavy"));
    await workers.end("a");
    await workers.add("light");
    expect(workers.at("b")).toEqual(["heavy", "light"]);
    // The other worker keeps its jobs, and the revoked job is the next.
    await settle();
    expect(workers.at("a")).toEqual(["heavy", "heavy"]);
    await workers.end("b");
    expect(workers.at("b")).toEqual(["light", "heavy"]);
  });

  test("is revoked for a new caller only once, so that a job is not starved", async () => {
    const workers = new FakeWorkers("worker");
    await workers.add("heavy", "heavy", "heavy", "heavy");
    for (const caller of ["u", "v", "w", "x", "y", "z"]) {
      await workers.add(caller);
      await workers.end("worker");
    }
    expect(workers.ended.filter((caller) => caller === "heavy").length).toBeGreaterThanOrEqual(3);
  });
});

describe("closing the queue", () => {
  test("rejects waiting and later jobs", async () => {
    const { queue } = await createBusyQueue();
    const waiting = queue.acquire();
    void queue.close();
    await expect(waiting).rejects.toMatchObject({ kind: "closed" });
    await expect(queue.acquire()).rejects.toMatchObject({ kind: "closed" });
    expect(queue.waiting).toBe(0);
  });

  test.each(["end", "removeWorker"] as const)("waits until no worker is busy (%s)", async (method) => {
    const { queue, running } = await createBusyQueue();
    let isClosed = false;
    const closing = queue.close().then(() => {
      isClosed = true;
    });
    await settle();
    expect(isClosed).toBe(false);
    if (method === "end") queue.end(running);
    else queue.removeWorker("worker");
    await closing;
    await queue.close();
  });

  test("waits for jobs in advance and revokes none of them", async () => {
    const workers = new FakeWorkers("slow", "fast");
    await workers.add("slow", ..."abcde");
    const waiting = workers.at("slow");
    const closing = workers.queue.close();
    await workers.end("fast");
    await workers.end("fast");
    expect(workers.at("slow")).toEqual(waiting);
    await workers.end("slow");
    await workers.end("slow");
    await closing;
  });
});
