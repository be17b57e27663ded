/** A calendar month. */
export interface Month {
  /** YYYY-MM (UTC). */
  readonly name: string;
  /** Seconds until the month ends, rounded up. */
  readonly secondsLeft: number;
}

/**
 * Returns the current month in UTC. The month never goes back: if the system clock steps back over the end of a month,
 * quotas must not be granted a second time.
 */
export class MonthClock {
  #startMs = Number.NEGATIVE_INFINITY;

  now(): Month {
    const nowMs = Date.now();
    this.#startMs = Math.max(this.#startMs, startOfMonth(nowMs, 0));
    return {
      name: new Date(this.#startMs).toISOString().slice(0, "YYYY-MM".length),
      secondsLeft: Math.ceil((startOfMonth(this.#startMs, 1) - nowMs) / 1000),
    };
  }
}

/** Returns the current month as YYYY-MM (UTC), for reports. */
export function currentMonth(): string {
  return new Date().toISOString().slice(0, "YYYY-MM".length);
}

/** Whether a text is a month such as 2026-01. */
export function isMonth(text: string): boolean {
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(text);
}

/** When the month after the current one starts. */
export function nextMonthStart(): Date {
  return new Date(startOfMonth(Date.now(), 1));
}

/** Start of the month that contains a time, moved by a number of months. In milliseconds since 1970 (UTC). */
function startOfMonth(timeMs: number, monthsLater: number): number {
  const date = new Date(timeMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + monthsLater);
}
