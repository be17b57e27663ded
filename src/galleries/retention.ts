import type { GalleryLimits } from "./gallery-store.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** The last time that every database and message can have. */
const LAST_TIME_MS = Date.UTC(9999, 11, 31);

/** Returns the time after some milliseconds, at most the end of the year 9999. */
export function timeAfter(now: Date, milliseconds: number): Date {
  return new Date(Math.min(now.getTime() + milliseconds, LAST_TIME_MS));
}

/** Returns when people expire at the latest; undefined without a limit. */
export function latestExpiry({ maxRetentionDays }: GalleryLimits, now: Date): Date | undefined {
  return maxRetentionDays === undefined ? undefined : timeAfter(now, maxRetentionDays * DAY_MS);
}

/** Returns when a new person expires if no time is given; undefined for never. */
export function defaultExpiry(
  {
    defaultRetentionDays = Number.POSITIVE_INFINITY,
    maxRetentionDays = Number.POSITIVE_INFINITY,
  }: GalleryLimits,
  now: Date,
): Date | undefined {
  const days = Math.min(defaultRetentionDays, maxRetentionDays);
  return Number.isFinite(days) ? timeAfter(now, days * DAY_MS) : undefined;
}
