import {
  type Duration,
  durationMs,
  type Timestamp,
  timestampDate,
  timestampMs,
} from "@bufbuild/protobuf/wkt";
import type { GalleryLimits } from "../galleries/gallery-store.ts";
import { latestExpiry, timeAfter } from "../galleries/retention.ts";
import { requireValid } from "./request-checks.ts";

/** The oneof of a request. */
type Expiration =
  | { readonly case: "expireTime"; readonly value: Timestamp }
  | { readonly case: "ttl"; readonly value: Duration }
  | { readonly case: undefined; readonly value?: undefined };

/** What a time may be. */
interface ExpirationRules {
  /** Of the plan, for people. */
  readonly limits?: GalleryLimits;
  /** Whether the time may be over. */
  readonly mayBePast?: boolean;
}

/**
 * Reads when something expires: null for never, undefined if the request does not say. Throws ServiceError `badRequest`
 * if the time is not allowed.
 */
export function expiryFrom(
  { case: field, value }: Expiration,
  { limits = {}, mayBePast = false }: ExpirationRules = {},
): Date | null | undefined {
  if (field === undefined) return undefined;
  const now = new Date();
  const latest = latestExpiry(limits, now);
  const problem = `must be at most ${limits.maxRetentionDays} days from now, the longest time of the plan`;
  if (field === "ttl") {
    const milliseconds = durationMs(value);
    requireValid("ttl", milliseconds >= 0, "cannot be negative");
    if (milliseconds === 0) {
      requireValid("ttl", !latest, problem);
      return null;
    }
    const expiresAt = timeAfter(now, milliseconds);
    requireValid("ttl", !latest || expiresAt <= latest, problem);
    return expiresAt;
  }
  const milliseconds = timestampMs(value);
  requireValid("expire_time", mayBePast || milliseconds > now.getTime(), "must be in the future");
  const isTime = milliseconds >= 0 && milliseconds <= timeAfter(now, Number.POSITIVE_INFINITY).getTime();
  requireValid("expire_time", isTime, "must be a time in the years 1970 to 9999");
  requireValid("expire_time", !latest || milliseconds <= latest.getTime(), problem);
  return timestampDate(value);
}
