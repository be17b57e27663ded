import { LoadShedder } from "./load-shedder.ts";
import { QueueError } from "./queue-error.ts";
import { RoundRobin } from "./round-robin.ts";
import { type AssignedJob, type Assignment, type OpenAssignment, WorkerSet } from "./worker-set.ts";

export type { Assignment } from "./worker-set.ts";

/** Why a job would be rejected now. */
export interface Rejection {
  /** The delay before a retry. */
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
   * `new` jobs may be rejected. `continued` jobs are later parts of an accepted call: only their deadline counts. `revoked` jobs were revoked from a worker: they are never rejected and go before all others.
   */
  readonly state?: "new" | "continued" | "revoked" | undefined;
}

interface WaitingJob<Worker> extends AssignedJob {
  readonly isNew: boolean;
  start(assignment: Assignment<Worker>): void;
  reject(error: QueueError): void;
}

/**
 * Assigns jobs to workers. Callers are served in turn (round-robin.ts), and jobs are rejected under overload
 * (load-shedder.ts).
 *
 * While more jobs wait than there are workers, a busy worker is assigned its next job in advance, so that it does not
 * idle between two jobs: that costs 2 % of the throughput, and more on a machine that gives an idle core to another
 * process. A job in advance still counts as waiting. It is revoked
 * - if another worker has nothing to do,
 * - if a job that was assigned later ends before it starts: its worker is slow or stuck,
 * - if a caller comes that is not being served, and the job's caller is.
 */
export class Queue<Worker> {
  readonly #workers = new WorkerSet<Worker>();
  readonly #jobs = new RoundRobin<WaitingJob<Worker>>();
  readonly #shedder: LoadShedder;
  readonly #revokeLast: (worker: Worker) => void;
  #isClosed = false;
  readonly #onAllIdle: (() => void)[] = [];

  /**
   * @param maxWaitMs the longest estimated wait of an accepted job.
   * @param revokeLast makes a worker give up the job that it was assigned last, unless it has started. The owner of
   *   that assignment ends it and acquires another one for the job with the state `revoked`.
   */
  constructor(maxWaitMs: number, revokeLast: (worker: Worker) => void) {
    this.#shedder = new LoadShedder(maxWaitMs, this.#workers, this.#jobs);
    this.#revokeLast = revokeLast;
  }

  /** Number of jobs that have not started, those assigned in advance included. */
  get waiting(): number {
    return this.#shedder.waiting;
  }

  /** Number of busy workers. */
  get busy(): number {
    return this.#workers.busy;
  }

  /**
   * Waits for a worker. The assignment must be ended by `end`.
   *
   * Throws QueueError `overloaded` at once if the job is rejected, or later if it is displaced; `closed` if the queue
   * is closed; and the signal's reason as soon as it is aborted.
   */
  async acquire({
    signal,
    caller = "",
    deadlineMs,
    state = "new",
  }: JobOptions = {}): Promise<Assignment<Worker>> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw closedError();
    // The time of a call may be used up by its earlier parts, although a worker is idle.
    if (state === "continued") this.#requireInTime(caller, deadlineMs);
    const { idle } = this.#workers;
    if (idle !== undefined) return this.#workers.assign(idle, { caller, isRevoked: state === "revoked" });
    if (state === "new") {
      this.#requireInTime(caller, deadlineMs);
      this.#makeRoom(caller);
    }
    return this.#wait(caller, state, signal);
  }

  /** Returns why `acquire` would reject a new job now, or undefined if it would accept it. */
  rejectionFor(caller: string, deadlineMs?: number): Rejection | undefined {
    if (this.#workers.idle !== undefined) return undefined;
    const hasRoom = !this.#shedder.isFull || this.#shedder.heaviestCallerBeside(caller) !== undefined;
    if (hasRoom && !this.#shedder.isTooLate(caller, deadlineMs)) return undefined;
    return { retryAfterMs: this.#shedder.retryAfterMs() };
  }

  /** Adds an idle worker. */
  addWorker(worker: Worker): void {
    this.#workers.add(worker);
    this.#assignNext(worker);
  }

  /** Removes a worker for good, idle or busy. Its replacement is expected until another worker is added. */
  removeWorker(worker: Worker): void {
    this.#workers.remove(worker);
    this.#notifyIfAllIdle();
  }

  /** Ends an assignment, started or revoked. Its worker goes on with the next job. */
  end(assignment: Assignment<Worker>): void {
    const ended = this.#workers.end(assignment);
    if (!ended) return;
    if (this.#workers.isIdle(ended.worker)) this.#assignNext(ended.worker);
    if (ended.startedMs !== undefined) {
      this.#shedder.addDuration(performance.now() - ended.startedMs);
      for (const overtaken of this.#workers.overtakenBy(ended)) this.#revoke(overtaken);
    }
    this.#assignInAdvance();
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

  /** Assigns the next job to an idle worker. */
  #assignNext(worker: Worker): void {
    const next = this.#jobs.takeNext();
    if (next) {
      this.#assign(next, worker);
      return;
    }
    const [inAdvance] = this.#workers.inAdvance();
    if (inAdvance) this.#revoke(inAdvance);
  }

  #assign(job: WaitingJob<Worker>, worker: Worker): void {
    job.start(this.#workers.assign(worker, job));
  }

  #assignInAdvance(): void {
    for (const worker of this.#workers.openToAdvance()) {
      if (this.#jobs.count <= this.#workers.size) return;
      this.#assign(this.#jobs.takeNext()!, worker);
    }
  }

  #revoke(assignment: OpenAssignment<Worker>): void {
    if (this.#isClosed) return;
    assignment.isBeingRevoked = true;
    this.#revokeLast(assignment.worker);
  }

  /** Whether one job goes before another: its caller is not being served and the other's is. */
  #mayPass(job: AssignedJob, other: AssignedJob): boolean {
    // A job is revoked once, so that new callers cannot hold it up forever.
    if (other.isRevoked || this.#workers.assignedCount(job.caller) > 0) return false;
    return this.#workers.assignedCount(other.caller) > 0;
  }

  /** Revokes a job in advance for the next waiting job, if that may pass it. */
  #replaceInAdvance(): void {
    const { next } = this.#jobs;
    if (!next) return;
    const passed = this.#workers
      .inAdvance()
      .find(({ job }) => this.#workers.assignedCount(job.caller) > 1 && this.#mayPass(next, job));
    if (!passed) return;
    this.#revoke(passed);
    this.#assign(this.#jobs.takeNext()!, passed.worker);
  }

  #requireInTime(caller: string, deadlineMs: number | undefined): void {
    if (this.#shedder.isTooLate(caller, deadlineMs)) throw this.#overloadedError();
  }

  /** Displaces a job of the caller with most jobs if the queue is full. */
  #makeRoom(caller: string): void {
    if (!this.#shedder.isFull) return;
    const heaviest = this.#shedder.heaviestCallerBeside(caller);
    const error = this.#overloadedError();
    if (heaviest === undefined) throw error;
    const jobs = this.#jobs.jobsOf(heaviest);
    // Earlier parts of continued jobs would be wasted.
    (jobs.findLast(({ isNew }) => isNew) ?? jobs.at(-1)!).reject(error);
  }

  #overloadedError(): QueueError {
    const message = `All workers are busy and ${this.waiting} jobs wait.`;
    return new QueueError("overloaded", message, this.#shedder.retryAfterMs());
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
      const abort = () => {
        leave();
        reject(signal?.reason);
      };
      const job: WaitingJob<Worker> = {
        caller,
        isNew: state === "new",
        isRevoked: state === "revoked",
        start: (assignment) => {
          leave();
          resolve(assignment);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      signal?.addEventListener("abort", abort);
      if (job.isRevoked) this.#jobs.addFirst(job);
      else this.#jobs.add(job, (next) => this.#mayPass(job, next));
      this.#replaceInAdvance();
      this.#assignInAdvance();
    });
  }
}

function closedError(): QueueError {
  return new QueueError("closed", "No more jobs are accepted.");
}
