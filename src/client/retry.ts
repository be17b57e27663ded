import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { type VisageError, visageErrorFromCause } from "./visage-error.ts";

/** Limits of a call with retries. */
export interface RetryOptions {
  /** The deadline of all attempts together. */
  readonly timeoutMs: number;
  /** The number of attempts after the first. */
  readonly retries: number;
  readonly signal?: AbortSignal | undefined;
}

/** The first delay of the exponential backoff, if the service does not ask for a longer one. */
const INITIAL_DELAY_MS = 100;
/** Delays are extended at random by up to this fraction, so that rejected clients do not retry at the same time. */
const JITTER = 0.5;
/** An internal error is retried once: a request that causes a second one is likely to be the cause. */
const INTERNAL = "INTERNAL";

/**
 * Calls, and retries while the error is retryable, with exponential backoff or after the delay that the service asks
 * for. Retries an internal error once at most. Fails at once if the next delay would exceed the deadline. Rejects with
 * VisageError.
 */
export async function callWithRetries<T>(
  call: (timeoutMs: number) => Promise<T>,
  { timeoutMs, retries, signal }: RetryOptions,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  let hadInternalError = false;
  for (let attempt = 0; ; attempt++) {
    try {
      // gRPC sends whole milliseconds, and 0 would mean no deadline.
      return await call(Math.max(1, Math.round(deadline - performance.now())));
    } catch (cause) {
      const error = visageErrorFromCause(cause);
      const delayMs = delayAfter(error, attempt);
      const isInternal = error.kind === INTERNAL;
      const isLast = attempt >= retries || performance.now() + delayMs >= deadline;
      if (!error.retryable || isLast || (isInternal && hadInternalError)) throw error;
      hadInternalError ||= isInternal;
      await sleep(delayMs, undefined, { signal }).catch(() => {
        throw visageErrorFromCause(new ConnectError("The call was cancelled.", Code.Canceled));
      });
    }
  }
}

function delayAfter({ retryAfterMs }: VisageError, attempt: number): number {
  return Math.max(retryAfterMs, INITIAL_DELAY_MS * 2 ** attempt) * (1 + JITTER * Math.random());
}
