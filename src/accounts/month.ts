/** The month of a moment in UTC, as YYYY-MM. */
export function monthOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, "YYYY-MM".length);
}

/** Seconds from a moment to the end of its month in UTC, rounded up. */
export function secondsToMonthEnd(timeMs: number): number {
  const date = new Date(timeMs);
  const endMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  return Math.ceil((endMs - timeMs) / 1000);
}
