import type { RequestError } from "../../site/request-error.ts";

/** What to do after a failed call. */
export type Reaction =
  /** The photo is at fault: report it and go on with the others. */
  | { readonly name: "fail" }
  /** Send nothing for a while, then the photo again. */
  | { readonly name: "retry"; readonly delayMs: number }
  /** No photo can succeed now: stop until the user continues. */
  | { readonly name: "stop" };

/** How often a photo is sent before it counts as failed. */
const MAX_ATTEMPTS = 4;
/** A batch does not wait longer than this by itself, for example for the quota of the next month. */
const MAX_DELAY_MS = 60_000;
const FIRST_DELAY_MS = 1000;

/** A missing or unknown API key, an expired subscription, a used-up quota: these fail for every photo. */
const CODES_OF_ACCOUNT = new Set(["4001", "4002", "4003", "4004"]);

/**
 * Decides what to do after a photo has failed. `attempt` counts from 1. `random` is between 0 and 1 and spreads the
 * retries of several clients.
 */
export function reactionTo({ facts }: RequestError, attempt: number, random = Math.random()): Reaction {
  const { kind, code, isRetryable, retryAfterSeconds } = facts;
  if (code !== undefined && CODES_OF_ACCOUNT.has(code)) return { name: "stop" };
  const delayMs =
    retryAfterSeconds === undefined
      ? FIRST_DELAY_MS * 2 ** (attempt - 1) * (1 + random)
      : 1000 * (retryAfterSeconds + random);
  if (retryAfterSeconds !== undefined && 1000 * retryAfterSeconds > MAX_DELAY_MS) return { name: "stop" };
  if (isRetryable && (attempt < MAX_ATTEMPTS || isBusy(facts))) return { name: "retry", delayMs };
  // Without a connection, or behind a proxy that fails, the next photo would fail as well.
  return { name: kind === "unreachable" || kind === "proxy" ? "stop" : "fail" };
}

/** The service says when to come back, so it is the rate of the requests and not the photo. */
function isBusy({ retryAfterSeconds, status }: RequestError["facts"]): boolean {
  return retryAfterSeconds !== undefined && (status === 429 || status === 503);
}
