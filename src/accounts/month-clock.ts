/** A day of a calendar month, in UTC. */
export interface MonthDay {
  /** YYYY-MM. */
  readonly month: string;
  /** YYYY-MM-DD. */
  readonly day: string;
  /** Seconds until the month ends, rounded up. */
  readonly secondsLeft: number;
}

/**
 * Returns the current day and month. The month never goes back: if the system clock steps back over the end of a month,
 * quotas must not be granted a second time.
 */
export class MonthClock {
  #startMs = Number.NEGATIVE_INFINITY;

  now(): MonthDay {
    const nowMs = Date.now();
    this.#startMs = Math.max(this.#startMs, startOfMonth(nowMs, 0));
    const day = new Date(Math.max(this.#startMs, nowMs)).toISOString().slice(0, "YYYY-MM-DD".length);
    return {
      month: monthOf(day),
      day,
      secondsLeft: Math.ceil((startOfMonth(this.#startMs, 1) - nowMs) / 1000),
    };
  }
}

/** Returns the month (YYYY-MM) of a day (YYYY-MM-DD). */
export function monthOf(day: string): string {
  return day.slice(0, "YYYY-MM".length);
}

/** Returns the current month as YYYY-MM (UTC), for reports. */
export function currentMonth(): string {
  return monthOf(new Date().toISOString());
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
