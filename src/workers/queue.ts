import { type Assignment, Assignments, type OpenAssignment } from "./assignments.ts";
import { estimateWaitMs, JobCost } from "./wait-estimate.ts";
import { WaitingJobs } from "./waiting-jobs.ts";

export type { Assignment } from "./assignments.ts";

/** Why a queue or the workers behind it did not do a job; the job itself is not at fault. */
export type QueueErrorKind = "overloaded" | "workerLost" | "closed";

/** A job that was not done: the wait is too long, its worker died, or the queue is closed. */
export class QueueError extends Error {
  override readonly name = "QueueError";
  readonly kind: QueueErrorKind;
  /** When to try again, in milliseconds from now; only of `overloaded`. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: QueueErrorKind, message: string, retryAfterMs?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Why a job would be rejected now. */
export interface Rejection {
  /** When to try again, in milliseconds from now. */
  readonly retryAfterMs: number;
}

/** Options of a queued job. */
export interface JobOptions {
  /** Removes the job from the queue when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Callers are served in turn, however many jobs each has. */
  readonly caller?: string | undefined;
  /** When it is too late to start the job, by `performance.now()`. */
  readonly deadlineMs?: number | undefined;
  /**
   * `new` jobs may be rejected. `continued` ones were accepted earlier and have had a turn: only their deadline counts.
   * `revoked` ones lost a turn before it had started: they are never rejected and go before all others.
   */
  readonly state?: "new" | "continued" | "revoked" | undefined;
}

interface Waiting<Worker> {
  readonly caller: string;
  readonly state: JobOptions["state"];
  hasGivenWay: boolean;
  start(assignment: Assignment<Worker>): void;
  reject(error: QueueError): void;
}

/** Bounds the memory of waiting jobs, whatever the estimated wait is. */
export const MOST_WAITING = 4096;

/** Factor on the work that waits: under overload all jobs slow down together by 10 to 15 %. */
const COMMON_SLOWDOWN = 1.15;

/** Bounds of `retryAfterMs`. */
const RETRY_AFTER_MS = { least: 100, most: 30_000 };

/**
 * Assigns jobs to workers. Callers are served in turn, and each caller's jobs in the order of arrival.
 *
 * Load shedding: a job is rejected when its estimated wait exceeds its deadline or the wait limit. Once the limit is
 * exceeded, a caller below its fair share still gets in: its job displaces the last one of the caller with most jobs.
 *
 * While more jobs wait than there are workers, a busy worker is assigned its next job in advance, so that it does not
 * idle between two jobs: a core that idles may be given to another process on a shared machine. A job in advance still
 * counts as waiting. It is revoked if that is fairer, or if its worker turns out to be slow.
 */
export class Queue<Worker> {
  readonly #maxWaitMs: number;
  readonly #revoke: (worker: Worker) => void;
  readonly #workers = new Set<Worker>();
  readonly #idle = new Set<Worker>();
  /** When workers that have not been replaced yet were withdrawn, the oldest first. */
  readonly #lostAtMs: number[] = [];
  readonly #assignments = new Assignments<Worker>();
  readonly #jobs = new WaitingJobs<Waiting<Worker>>();
  readonly #cost = new JobCost();
  #isClosed = false;
  readonly #onAllIdle: (() => void)[] = [];

  /**
   * @param maxWaitMs the longest estimated wait of an accepted job.
   * @param revoke makes a worker give up the job it was assigned last, unless it has started. Whoever had the
   *   assignment ends it and acquires another one as a `revoked` job.
   */
  constructor(maxWaitMs: number, revoke: (worker: Worker) => void) {
    this.#maxWaitMs = maxWaitMs;
    this.#revoke = revoke;
  }

  /** Number of jobs that have not started, those assigned in advance included. */
  get waiting(): number {
    return this.#jobs.count + this.#assignments.inAdvance().length;
  }

  /** Number of busy workers. */
  get busy(): number {
    return this.#assignments.busy;
  }

  /**
   * Waits for a worker. The assignment must be ended by `end`.
   *
   * Throws QueueError `overloaded` at once if the job is rejected, or later if it is displaced, and the signal's
   * reason as soon as it is aborted.
   */
  async acquire({
    signal,
    caller = "",
    deadlineMs,
    state = "new",
  }: JobOptions = {}): Promise<Assignment<Worker>> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw closedError();
    // A call that needs several turns may be too late although a worker is idle.
    if (state === "continued") this.#requireInTime(caller, deadlineMs);
    const [idle] = this.#idle;
    if (idle !== undefined) return this.#assign(idle, caller, state === "revoked");
    if (state === "new") this.#requireInTime(caller, deadlineMs);
    if (state === "new") this.#requireRoom(caller);
    return this.#wait(caller, state, signal);
  }

  /** Tells whether `acquire` would reject a new job now, and when to try again; undefined if it would accept it. */
  rejectionFor(caller: string, deadlineMs?: number): Rejection | undefined {
    if (this.#idle.size > 0) return undefined;
    const hasRoom = this.#hasRoom || this.#heaviestBeside(caller) !== undefined;
    const isAccepted = hasRoom && this.#isInTime(caller, deadlineMs);
    return isAccepted ? undefined : { retryAfterMs: this.#retryAfterMs() };
  }

  /** Adds a worker, which is idle. */
  offer(worker: Worker): void {
    this.#workers.add(worker);
    this.#lostAtMs.shift();
    this.#employ(worker);
  }

  /** Ends an assignment, started or revoked; its worker goes on with the next job. */
  end(assignment: Assignment<Worker>): void {
    const ended = this.#assignments.end(assignment);
    if (!ended) return;
    if (!this.#assignments.has(ended.worker)) this.#employ(ended.worker);
    if (ended.startedMs !== undefined) {
      this.#cost.add(performance.now() - ended.startedMs);
      for (const behind of this.#assignments.behindSlowerThan(ended)) this.#revokeAssignment(behind);
    }
    this.#assignInAdvance();
    this.#notifyIfAllIdle();
  }

  /** Removes a worker for good, idle or busy. It counts as being replaced until another one is offered. */
  withdraw(worker: Worker): void {
    if (this.#workers.delete(worker)) this.#lostAtMs.push(performance.now());
    this.#idle.delete(worker);
    this.#assignments.remove(worker);
    this.#notifyIfAllIdle();
  }

  /** Rejects all waiting and later jobs; resolves when no worker is busy. */
  close(): Promise<void> {
    this.#isClosed = true;
    for (const job of [...this.#jobs]) job.reject(closedError());
    return new Promise((resolve) => {
      this.#onAllIdle.push(resolve);
      this.#notifyIfAllIdle();
    });
  }

  #notifyIfAllIdle(): void {
    if (this.busy > 0) return;
    for (const resolve of this.#onAllIdle.splice(0)) resolve();
  }

  /** Gives an idle worker its next job. */
  #employ(worker: Worker): void {
    const next = this.#jobs.next();
    if (next) {
      this.#start(next, worker);
    } else {
      this.#idle.add(worker);
      // A job in advance would wait for a busy worker while this one is idle.
      const [inAdvance] = this.#assignments.inAdvance();
      if (inAdvance) this.#revokeAssignment(inAdvance);
    }
  }

  #start(job: Waiting<Worker>, worker: Worker): void {
    job.start(this.#assign(worker, job.caller, job.hasGivenWay));
  }

  #assign(worker: Worker, caller: string, hasGivenWay: boolean): Assignment<Worker> {
    this.#idle.delete(worker);
    return this.#assignments.assign(worker, caller, hasGivenWay);
  }

  #assignInAdvance(): void {
    for (const worker of this.#assignments.openToMore()) {
      if (this.#jobs.count <= this.#workers.size) return;
      this.#start(this.#jobs.next()!, worker);
    }
  }

  #revokeAssignment(assignment: OpenAssignment<Worker>): void {
    if (this.#isClosed) return;
    assignment.isRevoked = true;
    this.#revoke(assignment.worker);
  }

  /**
   * Lets the only job of a caller pass the next job of the one other caller who waits, if that one is being served:
   * it has had its turn. A job gives way once, so that newcomers cannot hold it up forever.
   */
  #letPass(job: Waiting<Worker>): void {
    const [other, ...more] = this.#jobs.callers.filter((caller) => caller !== job.caller);
    if (other === undefined || more.length > 0 || this.#counter()(job.caller) > 1) return;
    const inAdvance = this.#assignments
      .inAdvance()
      .find(({ caller, hasGivenWay }) => caller === other && !hasGivenWay);
    if (inAdvance) {
      this.#revokeAssignment(inAdvance);
      this.#jobs.remove(job);
      this.#start(job, inAdvance.worker);
      return;
    }
    const [next] = this.#jobs.of(other);
    if (next!.hasGivenWay || !this.#assignments.isServing(other) || this.#assignments.isServing(job.caller))
      return;
    next!.hasGivenWay = true;
    this.#jobs.moveToFront(job.caller);
  }

  #requireInTime(caller: string, deadlineMs: number | undefined): void {
    if (!this.#isInTime(caller, deadlineMs)) throw this.#overloadedError();
  }

  /** Makes sure that there is room for one more job, by displacing another one if necessary. */
  #requireRoom(caller: string): void {
    if (this.#hasRoom) return;
    const heaviest = this.#heaviestBeside(caller);
    const error = this.#overloadedError();
    if (heaviest === undefined) throw error;
    const jobs = this.#jobs.of(heaviest);
    // Work has been spent on those that have had a turn.
    (jobs.findLast(({ state }) => state === "new") ?? jobs.at(-1)!).reject(error);
  }

  #isInTime(caller: string, deadlineMs: number | undefined): boolean {
    return (
      deadlineMs === undefined || performance.now() + this.#waitMs(this.#countBefore(caller)) <= deadlineMs
    );
  }

  get #hasRoom(): boolean {
    const { waiting } = this;
    return waiting < MOST_WAITING && this.#waitMs(waiting * COMMON_SLOWDOWN) <= this.#maxWaitMs;
  }

  /** The caller with most waiting jobs, if it has more than this one would have. */
  #heaviestBeside(caller: string): string | undefined {
    const countOf = this.#counter();
    const heaviest = this.#jobs.callers.reduce(
      (one, other) => (countOf(other) > countOf(one) ? other : one),
      caller,
    );
    return countOf(heaviest) > countOf(caller) + 1 ? heaviest : undefined;
  }

  /** Number of jobs that the round robin serves before a new one of this caller. */
  #countBefore(caller: string): number {
    const own = this.#jobs.countOf(caller);
    const others = this.#jobs.callers.filter((other) => other !== caller);
    return (
      this.#assignments.inAdvance().length +
      others.reduce((sum, other) => sum + Math.min(this.#jobs.countOf(other), own + 1), own)
    );
  }

  /** Returns a function that counts a caller's waiting jobs, those assigned in advance included. */
  #counter(): (caller: string) => number {
    const inAdvance = this.#assignments.inAdvance().map((one) => one.caller);
    return (caller) => this.#jobs.countOf(caller) + inAdvance.filter((other) => other === caller).length;
  }

  /** Estimated wait of a job with this many others before it. */
  #waitMs(before: number): number {
    return estimateWaitMs(this.#freeInMs(), this.#cost.ofJobs(before));
  }

  /** Estimates for each worker when it will be free. */
  #freeInMs(): number[] {
    const nowMs = performance.now();
    return [
      ...Array.from(this.#idle, () => 0),
      ...this.#assignments.startTimes().map((startMs) => this.#cost.leftMs(nowMs - startMs)),
      // A replacement is expected soon at first, and later the longer it takes.
      ...this.#lostAtMs.map((lostMs) => nowMs - lostMs),
    ];
  }

  #overloadedError(): QueueError {
    return new QueueError(
      "overloaded",
      `All workers are busy and ${this.waiting} jobs wait.`,
      this.#retryAfterMs(),
    );
  }

  /** The time in which the queue would empty, give or take half, so that rejected clients do not return together. */
  #retryAfterMs(): number {
    const { least, most } = RETRY_AFTER_MS;
    const waitMs = this.#waitMs(this.waiting) * (0.5 + Math.random());
    return Math.round(Math.min(most, Math.max(least, waitMs)));
  }

  #wait(
    caller: string,
    state: JobOptions["state"],
    signal: AbortSignal | undefined,
  ): Promise<Assignment<Worker>> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#jobs.remove(job);
        signal?.removeEventListener("abort", abort);
      };
      const job: Waiting<Worker> = {
        caller,
        state,
        hasGivenWay: state === "revoked",
        start: (assignment) => {
          leave();
          resolve(assignment);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      const abort = () => {
        leave();
        reject(signal?.reason);
      };
      if (state === "revoked") this.#jobs.addFirst(job);
      else this.#jobs.add(job);
      signal?.addEventListener("abort", abort);
      this.#letPass(job);
      this.#assignInAdvance();
    });
  }
}

function closedError(): QueueError {
  return new QueueError("closed", "No more jobs are accepted.");
}
