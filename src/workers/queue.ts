import { RoundRobin } from "../processes/round-robin.ts";
import { LoadShedder } from "./load-shedder.ts";
import { QueueError } from "./queue-error.ts";
import { WorkerSet } from "./worker-set.ts";

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
  /** Whether the job continues an accepted call. Then it is rejected only for its deadline. */
  readonly isContinued?: boolean | undefined;
}

interface WaitingJob<Worker> {
  readonly caller: string;
  readonly isContinued: boolean;
  start(worker: Worker): void;
  reject(error: QueueError): void;
}

/**
 * Assigns a job to each idle worker. Callers are served in turn (RoundRobin), and jobs are rejected under overload
 * (LoadShedder).
 */
export class Queue<Worker> {
  readonly #workers = new WorkerSet<Worker>();
  readonly #jobs = new RoundRobin<WaitingJob<Worker>>();
  readonly #shedder: LoadShedder;
  readonly #onAllIdle: (() => void)[] = [];
  #isClosed = false;

  /** @param maxWaitMs the longest estimated wait of an accepted job. */
  constructor(maxWaitMs: number) {
    this.#shedder = new LoadShedder(maxWaitMs, this.#workers, this.#jobs);
  }

  /** Number of jobs that have not started. */
  get waiting(): number {
    return this.#jobs.count;
  }

  /** Number of busy workers. */
  get busy(): number {
    return this.#workers.busy;
  }

  /**
   * Waits for an idle worker. It is busy until `release`.
   *
   * Throws QueueError `overloaded` at once if the job is rejected, or later if it is displaced; `closed` if the queue
   * is closed; and the signal's reason as soon as it is aborted.
   */
  async acquire({ signal, caller = "", deadlineMs, isContinued = false }: JobOptions = {}): Promise<Worker> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw closedError();
    const { idle } = this.#workers;
    // The time of a call may be used up by its earlier parts, although a worker is idle.
    if (isContinued || idle === undefined) this.#requireInTime(caller, deadlineMs);
    if (idle !== undefined) {
      this.#workers.start(idle, caller);
      return idle;
    }
    if (!isContinued) this.#makeRoom(caller);
    return this.#wait(caller, isContinued, signal);
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
    this.#startNext(worker);
  }

  /** Removes a worker for good, idle or busy. Its replacement is expected until another worker is added. */
  removeWorker(worker: Worker): void {
    this.#workers.remove(worker);
    this.#notifyIfAllIdle();
  }

  /** Ends the job of a worker, which goes on with the next one. Does nothing if the worker was removed. */
  release(worker: Worker): void {
    const durationMs = this.#workers.end(worker);
    if (durationMs === undefined) return;
    this.#shedder.addDuration(durationMs);
    this.#startNext(worker);
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

  #startNext(worker: Worker): void {
    this.#jobs.takeTurn()?.start(worker);
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
    (jobs.findLast(({ isContinued }) => !isContinued) ?? jobs.at(-1)!).reject(error);
  }

  #overloadedError(): QueueError {
    const message = `All workers are busy and ${this.waiting} jobs wait.`;
    return new QueueError("overloaded", message, this.#shedder.retryAfterMs());
  }

  #wait(caller: string, isContinued: boolean, signal: AbortSignal | undefined): Promise<Worker> {
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
        isContinued,
        start: (worker) => {
          leave();
          this.#workers.start(worker, caller);
          resolve(worker);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      signal?.addEventListener("abort", abort);
      this.#jobs.add(job, (one) => this.#workers.isServing(one));
    });
  }
}

function closedError(): QueueError {
  return new QueueError("closed", "No more jobs are accepted.");
}
