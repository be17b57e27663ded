import { setImmediate as settle } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Assignment, MOST_WAITING, Queue, QueueError } from "../../src/workers/queue.ts";

const REASON = new Error("the caller has gone");
const FOREVER = 1_000_000;

function revokesNothing(worker: string): void {
  expect.fail(`a job of ${worker} is revoked`);
}

/** A queue with one worker, and the job that keeps it busy. */
async function busyQueue(
  maxWaitMs = FOREVER,
): Promise<{ queue: Queue<string>; running: Assignment<string> }> {
  const queue = new Queue<string>(maxWaitMs, revokesNothing);
  queue.offer("worker");
  return { queue, running: await queue.acquire() };
}

/** A queue and its workers, which run their jobs in order, and give back those that are revoked. */
class Workers {
  readonly ended: string[] = [];
  readonly queue = new Queue<string>(FOREVER, (worker) => this.#giveBack(worker));
  readonly #jobs = new Map<string, { readonly caller: string; readonly assignment: Assignment<string> }[]>();

  constructor(...workers: string[]) {
    for (const worker of workers) {
      this.#jobs.set(worker, []);
      this.queue.offer(worker);
    }
  }

  /** Adds a job of each caller, one after another. */
  async add(...callers: string[]): Promise<void> {
    for (const caller of callers) {
      this.#run(caller, "new").catch(() => {});
      await settle();
    }
  }

  /** Ends a worker's running job. */
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

  #giveBack(worker: string): void {
    const { caller, assignment } = this.#jobs.get(worker)!.pop()!;
    void settle().then(() => {
      this.queue.end(assignment);
      return this.#run(caller, "revoked");
    });
  }
}

describe("a queue", () => {
  test("assigns an idle worker at once, whatever the wait limit", async () => {
    const queue = new Queue<string>(0, revokesNothing);
    queue.offer("worker");
    expect(queue.busy).toBe(0);
    const assignment = await queue.acquire();
    expect(assignment.worker).toBe("worker");
    expect(assignment.startedMs).toBeDefined();
    expect(queue.busy).toBe(1);
    expect(queue.waiting).toBe(0);
  });

  test("serves in the order of arrival", async () => {
    let { queue, running } = await busyQueue();
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

  test("serves callers in turn, however many jobs each has waiting", async () => {
    const workers = new Workers("worker");
    await workers.add("first", "heavy", "heavy", "heavy", "light", "heavy", "other");
    for (let job = 0; job < 7; job++) await workers.end("worker");
    expect(workers.ended).toEqual(["first", "light", "heavy", "other", "heavy", "heavy", "heavy"]);
  });

  test("lets a newcomer go before the next job of a caller that is being served", async () => {
    const workers = new Workers("worker");
    await workers.add("heavy", "heavy");
    for (let round = 0; round < 3; round++) {
      await workers.add("light");
      await workers.end("worker");
      await workers.add("heavy");
      await workers.end("worker");
    }
    expect(workers.ended).toEqual(["heavy", "light", "heavy", "light", "heavy", "light"]);
  });

  test("but serves a caller that waits before one that comes later", async () => {
    const workers = new Workers("worker");
    await workers.add("other", "early", "late");
    for (let job = 0; job < 3; job++) await workers.end("worker");
    expect(workers.ended).toEqual(["other", "early", "late"]);
  });

  test("drops a job whose signal is aborted, and serves the next", async () => {
    const { queue, running } = await busyQueue();
    const controller = new AbortController();
    const before = queue.acquire();
    const leaving = queue.acquire({ signal: controller.signal });
    const staying = queue.acquire();
    controller.abort(REASON);
    expect(queue.waiting).toBe(2);
    await expect(leaving).rejects.toBe(REASON);
    queue.end(running);
    queue.end(await before);
    expect((await staying).startedMs).toBeDefined();
  });

  test("assigns nothing to a signal that was aborted before", async () => {
    const queue = new Queue<string>(FOREVER, revokesNothing);
    queue.offer("worker");
    await expect(queue.acquire({ signal: AbortSignal.abort(REASON) })).rejects.toBe(REASON);
    expect(queue.busy).toBe(0);
    expect((await queue.acquire()).worker).toBe("worker");
  });

  test("keeps an assignment whose signal is aborted afterwards", async () => {
    const { queue, running } = await busyQueue();
    const controller = new AbortController();
    const assigned = queue.acquire({ signal: controller.signal });
    queue.end(running);
    controller.abort(REASON);
    expect((await assigned).worker).toBe("worker");
    expect(queue.busy).toBe(1);
  });

  test("never assigns a worker that was withdrawn", async () => {
    const queue = new Queue<string>(FOREVER, revokesNothing);
    queue.offer("lost");
    queue.withdraw("lost");
    const waiting = queue.acquire();
    queue.offer("new");
    expect((await waiting).worker).toBe("new");
  });

  test("does not take back a worker that was withdrawn while it was busy", async () => {
    const { queue, running } = await busyQueue();
    queue.withdraw("worker");
    queue.end(running);
    expect(queue.busy).toBe(0);
    void queue.acquire();
    expect(queue.waiting).toBe(1);
  });
});

describe("load shedding", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => void vi.useRealTimers());

  /** A queue whose one worker is busy, and has run jobs that took so long. */
  async function queueWithCosts(costsMs: readonly number[], maxWaitMs: number) {
    const queue = new Queue<string>(maxWaitMs, () => {});
    queue.offer("worker");
    let last = await queue.acquire();
    for (const costMs of costsMs) {
      vi.advanceTimersByTime(costMs);
      queue.end(last);
      last = await queue.acquire();
    }
    return { queue, running: last };
  }

  const TENTHS = Array.from({ length: 8 }, () => 100);

  /** Adds jobs of a caller to the queue; returns why each was rejected, in the end. */
  function addJobs(queue: Queue<string>, count: number, caller = "") {
    const rejected: QueueError[] = [];
    for (let job = 0; job < count; job++) {
      queue.acquire({ caller }).catch((fault: QueueError) => rejected.push(fault));
    }
    return rejected;
  }

  test("rejects a job whose estimated wait exceeds the limit, and says when to try again", async () => {
    const { queue } = await queueWithCosts(TENTHS, 600);
    // One job has 100 ms to go; four that wait may take 460 ms, five 575 ms.
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
    expect(new Set(retries).size, "spread").toBeGreaterThan(20);
    const { retryAfterMs } = (await rejected.catch((fault: unknown) => fault)) as QueueError;
    expect(retryAfterMs).toBeGreaterThanOrEqual(300);
    // The running job comes to its end meanwhile.
    vi.advanceTimersByTime(100);
    expect(queue.rejectionFor("")).toBeUndefined();
  });

  test("rejects nothing before it is known how long jobs take", async () => {
    const { queue } = await queueWithCosts([5000, 100, 100, 100, 100, 100, 100], 500);
    expect(addJobs(queue, 200)).toEqual([]);
    expect(queue.waiting).toBe(200);
  });

  test.each([
    ["the first job", [5000, ...TENTHS]],
    ["a later one", [...TENTHS, ...TENTHS, ...TENTHS, 5000]],
  ])("does not overreact when %s is slow", async (_, costs) => {
    const { queue } = await queueWithCosts(costs, 1000);
    addJobs(queue, 4);
    expect(queue.rejectionFor("")).toBeUndefined();
  });

  test("expects nothing soon of a worker whose job takes far longer than usual", async () => {
    const { queue } = await queueWithCosts(TENTHS, 500);
    vi.advanceTimersByTime(1000);
    expect(queue.rejectionFor(""), "a hiccup").toBeUndefined();
    vi.advanceTimersByTime(200);
    expect(queue.rejectionFor("")).toBeDefined();
    queue.offer("another");
    expect(queue.rejectionFor("")).toBeUndefined();
    void queue.acquire();
    addJobs(queue, 3);
    expect(queue.rejectionFor(""), "one worker still does its work").toBeUndefined();
  });

  test("counts on a lost worker's replacement for as long as the wait limit", async () => {
    const { queue } = await queueWithCosts(TENTHS, 500);
    queue.withdraw("worker");
    expect(addJobs(queue, 4)).toEqual([]);
    expect(queue.rejectionFor("")).toBeUndefined();
    vi.advanceTimersByTime(501);
    expect(queue.rejectionFor("")).toBeDefined();
    queue.offer("replacement");
    expect(queue.rejectionFor("")).toBeUndefined();
  });

  test("displaces the last job of the caller with most, for a caller with fewer", async () => {
    const { queue, running } = await queueWithCosts(TENTHS, 250);
    const first = queue.acquire({ caller: "heavy" });
    // Two are within the limit, a third is not.
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
    const { queue } = await queueWithCosts(TENTHS, 1000);
    const rejectedToo = addJobs(queue, 5, "heavy");
    const rejected = addJobs(queue, 3, "light");
    await settle();
    expect([...rejected, ...rejectedToo]).toEqual([]);
  });

  test("does not reject a job that has had a turn, and displaces it only if there is no other", async () => {
    const { queue } = await queueWithCosts(TENTHS, 250);
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

  test("rejects at once a job that would start after its deadline", async () => {
    const { queue } = await queueWithCosts(TENTHS, FOREVER);
    addJobs(queue, 1);
    const nowMs = performance.now();
    // The running job and the one that waits take 200 ms.
    expect(queue.rejectionFor("", nowMs + 199)).toBeDefined();
    await expect(queue.acquire({ deadlineMs: nowMs + 199 })).rejects.toMatchObject({ kind: "overloaded" });
    expect(queue.rejectionFor("", nowMs + 201)).toBeUndefined();
    void queue.acquire({ deadlineMs: nowMs + 201 });
    expect(queue.waiting).toBe(2);
    await expect(queue.acquire({ deadlineMs: nowMs + 201 })).rejects.toMatchObject({ kind: "overloaded" });
    const late = queue.acquire({ deadlineMs: nowMs + 201, state: "continued" });
    await expect(late).rejects.toMatchObject({ kind: "overloaded" });
  });

  test("rejects a job that needs one more turn after its deadline, also if a worker is idle", async () => {
    const queue = new Queue<string>(FOREVER, revokesNothing);
    queue.offer("worker");
    const late = queue.acquire({ deadlineMs: performance.now() - 1, state: "continued" });
    await expect(late).rejects.toMatchObject({ kind: "overloaded" });
    expect(queue.busy).toBe(0);
  });

  test("counts for a deadline only the jobs that are served before", async () => {
    const { queue } = await queueWithCosts(TENTHS, FOREVER);
    addJobs(queue, 20, "heavy");
    const deadlineMs = performance.now() + 500;
    expect(queue.rejectionFor("heavy", deadlineMs)).toBeDefined();
    expect(queue.rejectionFor("light", deadlineMs)).toBeUndefined();
  });

  test("bounds the number of waiting jobs, whatever the estimate", async () => {
    const { queue } = await busyQueue();
    expect(addJobs(queue, MOST_WAITING)).toEqual([]);
    expect(queue.rejectionFor("")).toBeDefined();
    await expect(queue.acquire()).rejects.toMatchObject({ kind: "overloaded" });
    expect(queue.rejectionFor("light")).toBeUndefined();
  });
});

describe("jobs are assigned in advance", () => {
  test("while more wait than there are workers, one to each, and still count as waiting", async () => {
    const workers = new Workers("a", "b");
    await workers.add("one", "one", "one", "one");
    expect([workers.at("a"), workers.at("b")]).toEqual([["one"], ["one"]]);
    await workers.add("one", "one", "one", "one");
    expect([workers.at("a"), workers.at("b")]).toEqual([
      ["one", "one"],
      ["one", "one"],
    ]);
    expect([workers.queue.busy, workers.queue.waiting]).toEqual([2, 6]);
  });

  test("and revoked when one that was assigned later has ended: their worker may be stuck", async () => {
    const workers = new Workers("slow", "fast");
    await workers.add("slow", ..."abcdefg");
    expect(workers.at("slow")).toEqual(["slow", "b"]);
    for (let job = 0; job < 7; job++) {
      await workers.end("fast");
      await settle();
    }
    expect(workers.ended).toEqual(["a", "c", "d", "e", "b", "f", "g"]);
    expect(workers.at("slow")).toEqual(["slow"]);
  });

  test("and revoked if another worker would be idle", async () => {
    const workers = new Workers("slow", "fast");
    await workers.add("slow", "a", "b");
    const leaving = new AbortController();
    const left = [1, 2].map(() => workers.queue.acquire({ signal: leaving.signal }).catch(() => {}));
    await settle();
    expect(workers.at("slow")).toEqual(["slow", "b"]);
    leaving.abort(REASON);
    await Promise.all(left);
    await workers.end("fast");
    await settle();
    expect([workers.at("slow"), workers.at("fast")]).toEqual([["slow"], ["b"]]);
  });

  test("and revoked for a newcomer, at the worker that will be free first", async () => {
    const workers = new Workers("a", "b");
    await workers.add(...Array.from({ length: 8 }, () => "heavy"));
    await workers.end("a");
    await workers.add("light");
    expect(workers.at("b")).toEqual(["heavy", "light"]);
    // The other worker's jobs stay; the one that gave way comes next.
    await settle();
    expect(workers.at("a")).toEqual(["heavy", "heavy"]);
    await workers.end("b");
    expect(workers.at("b")).toEqual(["light", "heavy"]);
  });

  test("but not forever: a job that has given way is served before later newcomers", async () => {
    const workers = new Workers("worker");
    await workers.add("heavy", "heavy", "heavy", "heavy");
    for (const caller of ["u", "v", "w", "x", "y", "z"]) {
      await workers.add(caller);
      await workers.end("worker");
    }
    expect(workers.ended.filter((caller) => caller === "heavy").length).toBeGreaterThanOrEqual(3);
  });
});

describe("closing a queue", () => {
  test("rejects waiting and later jobs", async () => {
    const { queue } = await busyQueue();
    const waiting = queue.acquire();
    void queue.close();
    await expect(waiting).rejects.toMatchObject({ kind: "closed" });
    await expect(queue.acquire()).rejects.toMatchObject({ kind: "closed" });
    expect(queue.waiting).toBe(0);
  });

  test.each(["end", "withdraw"] as const)("waits for each busy worker until its %s", async (way) => {
    const { queue, running } = await busyQueue();
    let closed = false;
    const closing = queue.close().then(() => {
      closed = true;
    });
    await settle();
    expect(closed).toBe(false);
    if (way === "end") queue.end(running);
    else queue.withdraw("worker");
    await closing;
    await queue.close();
  });

  test("waits for jobs in advance too, and revokes none of them", async () => {
    const workers = new Workers("slow", "fast");
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
