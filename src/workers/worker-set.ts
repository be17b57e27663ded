/** A job that a worker runs. */
interface RunningJob {
  readonly caller: string;
  /** By `performance.now()`. */
  readonly startMs: number;
}

/** The workers of a queue and the job that each of them runs. */
export class WorkerSet<Worker> {
  readonly #jobs = new Map<Worker, RunningJob | undefined>();
  /** When workers that have not been replaced yet were lost, by `performance.now()`, in order of time. */
  readonly #lostAtMs: number[] = [];

  /** Number of workers with a job. */
  get busy(): number {
    return this.#runningJobs().length;
  }

  /** A worker without a job. */
  get idle(): Worker | undefined {
    for (const [worker, job] of this.#jobs) if (!job) return worker;
    return undefined;
  }

  /** Whether a worker runs a job of this caller. */
  isServing(caller: string): boolean {
    return this.#runningJobs().some((job) => job.caller === caller);
  }

  /** Adds an idle worker, which replaces the one that was lost first, if any. */
  add(worker: Worker): void {
    this.#lostAtMs.shift();
    this.#jobs.set(worker, undefined);
  }

  /** Removes a lost worker with its job. */
  remove(worker: Worker): void {
    if (this.#jobs.delete(worker)) this.#lostAtMs.push(performance.now());
  }

  /** Starts a job on an idle worker. */
  start(worker: Worker, caller: string): void {
    this.#jobs.set(worker, { caller, startMs: performance.now() });
  }

  /** Ends the job of a worker. Returns its duration, or undefined if the worker was removed. */
  end(worker: Worker): number | undefined {
    const job = this.#jobs.get(worker);
    if (!job) return undefined;
    this.#jobs.set(worker, undefined);
    return performance.now() - job.startMs;
  }

  /**
   * Estimates for each worker when it will be idle.
   *
   * @param remainingMs estimates the remaining time of a job from the time that it has run.
   */
  idleInMs(remainingMs: (elapsedMs: number) => number): number[] {
    const nowMs = performance.now();
    return [
      ...Array.from(this.#jobs.values(), (job) => (job ? remainingMs(nowMs - job.startMs) : 0)),
      // A replacement is expected soon at first, and later the longer it takes.
      ...this.#lostAtMs.map((lostMs) => nowMs - lostMs),
    ];
  }

  #runningJobs(): RunningJob[] {
    return [...this.#jobs.values()].filter((job) => job !== undefined);
  }
}
