import { sleep } from "./abort.ts";
import type { Slot } from "./in-flight-limit.ts";
import { type VisageError, visageErrorFromCause } from "./visage-error.ts";

/** Limits of a call with retries. */
export interface RetryOptions {
  /** The end of all attempts together, as a time of `performance.now()`. */
  readonly deadline: number;
  /** The number of attempts after the first. */
  readonly retries: number;
  /** Whether to retry although the service may have processed the call. */
  readonly isIdempotent: boolean;
  /** Cancels the call. Its reason is the error of the call. */
  readonly signal: AbortSignal;
  /** The slot of the call. */
  readonly slot: Slot;
}

/** The first delay of the exponential backoff, if the service does not ask for a longer one. */
const INITIAL_DELAY_MS = 100;
/** The longest delay of the exponential backoff. */
const MAX_DELAY_MS = 1_000;
/** Delays are extended at random by up to this fraction, so that rejected clients do not retry at the same time. */
const JITTER = 0.5;
/** An internal error is retried once: a request that causes a second one is likely to be the cause. */
const INTERNAL = "INTERNAL";
/** Rejections without any work. The service asks for patience, so the call is retried until its deadline. */
const REJECTIONS: readonly string[] = ["OVERLOADED", "TOO_MANY_REQUESTS", "TOO_MANY_IN_FLIGHT"];

/** Other errors of a call that the service has not processed. */
const UNPROCESSED: readonly string[] = ["DRAINING", "ACCOUNTS_UNAVAILABLE"];

/**
 * Calls, and retries while the error is retryable, with exponential backoff or after the delay that the service asks
 * for. Fails at once if the next delay would exceed the deadline. Rejects with VisageError.
 */
export async function callWithRetries<T>(
  call: (timeoutMs: number) => Promise<T>,
  { deadline, retries, isIdempotent, signal, slot }: RetryOptions,
): Promise<T> {
  let retriesLeft = retries;
  let hadInternalError = false;
  for (let attempt = 0; ; attempt++) {
    try {
      // gRPC sends whole milliseconds, and 0 would mean no deadline.
      const result = await call(Math.max(1, Math.round(deadline - performance.now())));
      slot.accept();
      return result;
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      const error = visageErrorFromCause(cause);
      const isRejected = isRejection(error);
      const isAnswer = error.code !== undefined && !isRejected;
      if (isAnswer) slot.accept();
      const isInternal = error.reason === INTERNAL;
      const delayMs = delayAfter(error, attempt);
      const isLast = (isRejected ? retries : retriesLeft) === 0 || performance.now() + delayMs >= deadline;
      const mayRepeat = isIdempotent || isRejected || UNPROCESSED.includes(error.reason);
      if (!error.retryable || !mayRepeat || isLast || (isInternal && hadInternalError)) throw error;
      hadInternalError ||= isInternal;
      if (!isRejected) retriesLeft--;
      await (isRejected ? slot.reject(delayMs) : sleep(delayMs, signal));
    }
  }
}

/** Whether the service rejected a call without any work, because of its load or a rate limit. */
export function isRejection({ reason }: VisageError): boolean {
  return REJECTIONS.includes(reason);
}

/** Returns the delay before the next attempt in milliseconds. The first attempt is number 0. */
export function delayAfter({ retryAfterMs }: VisageError, attempt: number): number {
  const backoffMs = Math.min(MAX_DELAY_MS, INITIAL_DELAY_MS * 2 ** attempt);
  return Math.max(retryAfterMs, backoffMs) * (1 + JITTER * Math.random());
}
