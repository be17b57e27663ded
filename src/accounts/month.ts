/** The month of a moment in UTC, as YYYY-MM. */
export function monthOf(timeMs: number): string {
  const date = new Date(timeMs);
  return `${date.getUTCFullYear()}-${String(date.getUTCMonth() + 1).padStart(2, "0")}`;
}

/** Seconds from a moment to the end of its month in UTC, rounded up. */
export function secondsToMonthEnd(timeMs: number): number {
  const date = new Date(timeMs);
  const endMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  return Math.ceil((endMs - timeMs) / 1000);
}
