import type { RoundRobin } from "../processes/round-robin.ts";
import { estimateWaitMs, JobCost } from "./wait-estimate.ts";
import type { WorkerSet } from "./worker-set.ts";

/** Bounds the memory of waiting jobs, whatever the estimated wait is. */
export const MAX_WAITING = 4096;

/** Factor on the work that waits: under overload all jobs slow down together by 10 to 15 %. */
export const COMMON_SLOWDOWN = 1.15;

const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 30_000;

/**
 * Decides which jobs a queue rejects under overload. A job is rejected if its estimated wait exceeds its deadline, or
 * if the queue is full: one more job would wait for longer than the wait limit. A full queue still accepts the job of
 * a caller below its fair share in exchange for a job of the caller with most jobs.
 */
export class LoadShedder {
  readonly #maxWaitMs: number;
  readonly #workers: WorkerSet<unknown>;
  readonly #jobs: RoundRobin<{ readonly caller: string }>;
  readonly #cost = new JobCost();

  constructor(maxWaitMs: number, workers: WorkerSet<unknown>, jobs: RoundRobin<{ readonly caller: string }>) {
    this.#maxWaitMs = maxWaitMs;
    this.#workers = workers;
    this.#jobs = jobs;
  }

  /** Adds the duration of a job that has ended to the estimate. */
  addDuration(durationMs: number): void {
    this.#cost.add(durationMs);
  }

  /** Whether one more job would wait for too long. */
  get isFull(): boolean {
    const { count } = this.#jobs;
    return count >= MAX_WAITING || this.#waitMs(count * COMMON_SLOWDOWN) > this.#maxWaitMs;
  }

  /** Whether a new job of this caller would start after its deadline, by `performance.now()`. */
  isTooLate(caller: string, deadlineMs: number | undefined): boolean {
    if (deadlineMs === undefined) return false;
    return performance.now() + this.#waitMs(this.#countBefore(caller)) > deadlineMs;
  }

  /** The caller with most waiting jobs, if it has more than this caller would have with one more. */
  heaviestCallerBeside(caller: string): string | undefined {
    let heaviest: string | undefined;
    let most = this.#jobs.countOf(caller) + 1;
    for (const other of this.#jobs.callers) {
      const count = this.#jobs.countOf(other);
      if (count <= most) continue;
      heaviest = other;
      most = count;
    }
    return heaviest;
  }

  /** The time in which the queue would empty, times 0.5 to 1.5 so that rejected clients do not return together. */
  retryAfterMs(): number {
    const waitMs = this.#waitMs(this.#jobs.count) * (0.5 + Math.random());
    return Math.round(Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, waitMs)));
  }

  /** Number of jobs that the round robin serves before a new one of this caller. */
  #countBefore(caller: string): number {
    const own = this.#jobs.countOf(caller);
    const others = this.#jobs.callers.filter((other) => other !== caller);
    return others.reduce((sum, other) => sum + Math.min(this.#jobs.countOf(other), own + 1), own);
  }

  /** Estimated wait of a job with this many others before it. */
  #waitMs(before: number): number {
    const idleInMs = this.#workers.idleInMs((elapsedMs) => this.#cost.remainingMs(elapsedMs));
    return estimateWaitMs(idleInMs, this.#cost.totalMs(before));
  }
}
