/** Number of recent jobs from which the cost of a job is estimated, and the least number for an estimate. */
const WINDOW = 64;
const FEWEST_JOBS = 8;

/** The slowest job does not count, and any other as at most this many median jobs: a few slow ones change little. */
const MOST_MEDIANS = 8;

/**
 * Standard deviations that are added to the mean: it is the slowest waits that must stay within the limit, and
 * half of all waits are longer than the mean.
 */
const DEVIATIONS = 2;

/** Estimates how long jobs take from those that have ended. */
export class JobCost {
  readonly #recent: number[] = [];
  #count = 0;
  #meanMs = 0;
  #deviationMs = 0;

  /** Mean time of a job in milliseconds; 0 while too few have ended to tell. */
  get meanMs(): number {
    return this.#meanMs;
  }

  /** Adds the time of a job that has ended. */
  add(jobMs: number): void {
    this.#recent[this.#count++ % WINDOW] = jobMs;
    if (this.#count < FEWEST_JOBS) return;
    const sorted = this.#recent.toSorted((one, other) => one - other);
    const mostMs = MOST_MEDIANS * sorted[sorted.length >> 1]!;
    const times = sorted.slice(0, -1).map((ms) => Math.min(ms, mostMs));
    this.#meanMs = meanOf(times);
    this.#deviationMs = Math.sqrt(meanOf(times.map((ms) => (ms - this.#meanMs) ** 2)));
  }

  /** Time until a job ends that has run for so long. One that is overdue is expected to take half as long again. */
  leftMs(elapsedMs: number): number {
    if (this.#meanMs === 0) return 0;
    return elapsedMs < this.#meanMs ? this.#meanMs - elapsedMs : (elapsedMs - this.#meanMs) / 2;
  }

  /** Time that a number of jobs will not exceed in most cases, one after another. */
  ofJobs(count: number): number {
    return count * this.#meanMs + DEVIATIONS * Math.sqrt(count) * this.#deviationMs;
  }
}

/**
 * Estimates how long a job waits until a worker starts it.
 *
 * @param freeInMs for each worker, when it will have ended the job that it runs now.
 * @param workMs time of all jobs that wait before this one; the workers share them.
 */
export function estimateWaitMs(freeInMs: readonly number[], workMs: number): number {
  const sorted = freeInMs.toSorted((one, other) => one - other);
  let waitMs = sorted[0] ?? 0;
  let leftMs = workMs;
  for (const [workers, freeMs] of sorted.entries()) {
    // Until the next worker is free, only those before it work.
    const doneMs = (freeMs - waitMs) * workers;
    if (doneMs >= leftMs) break;
    leftMs -= doneMs;
    waitMs = freeMs;
  }
  const working = sorted.filter((freeMs) => freeMs <= waitMs).length;
  return waitMs + leftMs / Math.max(1, working);
}

function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}
