/** Number of recent jobs from which the duration of a job is estimated. */
const WINDOW = 64;
/** Fewer jobs than this give no estimate. */
const MIN_JOBS = 8;

/** Longer durations than this many medians are cut, so that a few outliers change the estimate little. */
const MAX_MEDIANS = 8;

/**
 * Standard deviations that are added to the mean. The slowest waits must stay within the limit, but half of all waits
 * are longer than the mean.
 */
const DEVIATIONS = 2;

/** Estimates how long jobs take from the durations of recent jobs. */
export class JobCost {
  readonly #recent: number[] = [];
  #count = 0;
  #meanMs = 0;
  #deviationMs = 0;

  /** Mean duration of a job; 0 until enough jobs have ended. */
  get meanMs(): number {
    return this.#meanMs;
  }

  /** Adds the duration of a job that has ended. */
  add(durationMs: number): void {
    this.#recent[this.#count++ % WINDOW] = durationMs;
    if (this.#count < MIN_JOBS) return;
    const sorted = this.#recent.toSorted((one, other) => one - other);
    const maxMs = MAX_MEDIANS * sorted[sorted.length >> 1]!;
    // A single outlier, the longest, does not count at all.
    const durations = sorted.slice(0, -1).map((ms) => Math.min(ms, maxMs));
    this.#meanMs = meanOf(durations);
    this.#deviationMs = Math.sqrt(meanOf(durations.map((ms) => (ms - this.#meanMs) ** 2)));
  }

  /** Estimates when a running job ends. An overdue one is expected to take half of its excess over the mean again. */
  remainingMs(elapsedMs: number): number {
    if (this.#meanMs === 0) return 0;
    return elapsedMs < this.#meanMs ? this.#meanMs - elapsedMs : (elapsedMs - this.#meanMs) / 2;
  }

  /** Estimates a time that a number of jobs, one after another, rarely exceed. */
  totalMs(count: number): number {
    return count * this.#meanMs + DEVIATIONS * Math.sqrt(count) * this.#deviationMs;
  }
}

/**
 * Estimates how long a job waits until a worker starts it.
 *
 * @param idleInMs for each worker, the remaining time of its running job.
 * @param workMs total duration of the jobs that wait before this one; the workers share them.
 */
export function estimateWaitMs(idleInMs: readonly number[], workMs: number): number {
  const sorted = idleInMs.toSorted((one, other) => one - other);
  let waitMs = sorted[0] ?? 0;
  let remainingMs = workMs;
  for (const [workers, idleMs] of sorted.entries()) {
    // Until this worker is idle, only the workers before it share the jobs.
    const doneMs = (idleMs - waitMs) * workers;
    if (doneMs >= remainingMs) break;
    remainingMs -= doneMs;
    waitMs = idleMs;
  }
  const available = sorted.filter((idleMs) => idleMs <= waitMs).length;
  return waitMs + remainingMs / Math.max(1, available);
}

function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}
