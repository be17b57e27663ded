/** The current month and how much of it is left. */
export interface Month {
  /** In UTC, as YYYY-MM. */
  readonly name: string;
  /** Seconds until it ends, rounded up. */
  readonly secondsLeft: number;
}

/**
 * Tells the current month in UTC. A month once entered is not left by a clock that steps back: quotas would be granted
 * again, and once more when the clock is set right.
 */
export class MonthClock {
  #startMs = Number.NEGATIVE_INFINITY;

  /** The current month. */
  now(): Month {
    const nowMs = Date.now();
    this.#startMs = Math.max(this.#startMs, startOfMonth(nowMs, 0));
    return {
      name: new Date(this.#startMs).toISOString().slice(0, "YYYY-MM".length),
      secondsLeft: Math.ceil((startOfMonth(this.#startMs, 1) - nowMs) / 1000),
    };
  }
}

/** The start, in UTC, of the month that is a number of months after the month of a time. */
function startOfMonth(timeMs: number, monthsLater: number): number {
  const date = new Date(timeMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + monthsLater);
}
