import { timingSafeEqual } from "node:crypto";
import { FailedAuthLimiter } from "./failed-auth-limiter.ts";
import { hashKey, isKey } from "./key.ts";

/** Shorter keys could be guessed. */
const MIN_LENGTH = 32;

/** The format of the admin key, for error messages. */
export const ADMIN_KEY_FORMAT = `${MIN_LENGTH} to 128 printable characters without spaces`;

/** Only one person needs the key, so a few failures are enough for typing errors. */
const FAILURE_RATE = { perSecond: 0.1, burst: 10 };

/** Whether a text is long enough to be the admin key. */
export function isAdminKey(text: string): boolean {
  return isKey(text) && text.length >= MIN_LENGTH;
}

/** The result of a check of the admin key. */
export type AdminVerdict =
  | "admitted"
  | "rejected"
  /** The address has failed too often. Its key was not checked. */
  | { readonly retryAfterMs: number };

/** Checks the admin key of requests. */
export interface AdminAuthenticator {
  /** `keys` are the distinct Bearer tokens of the request. */
  check(keys: readonly string[], address: string): AdminVerdict;
}

/** Creates the check of an admin key. Failed attempts are limited per client address. */
export function createAdminAuthenticator(adminKey: string): AdminAuthenticator {
  // Hashes have equal lengths, so the comparison takes the same time for every key.
  const expected = Buffer.from(hashKey(adminKey));
  const limiter = new FailedAuthLimiter(FAILURE_RATE);
  return {
    check(keys, address) {
      const retrySeconds = limiter.retryAfterSeconds(address);
      if (retrySeconds !== undefined) return { retryAfterMs: Math.ceil(retrySeconds * 1_000) };
      const [key, ...others] = keys;
      // A request without a key is no attempt to guess it.
      if (key === undefined) return "rejected";
      const isAdmin = timingSafeEqual(Buffer.from(hashKey(key)), expected);
      if (isAdmin && others.length === 0) return "admitted";
      limiter.recordFailure(address);
      return "rejected";
    },
  };
}
