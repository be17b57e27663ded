import type { RetryPolicy } from "../client/stream-retry.ts";
import type { VisageError } from "../client/visage-error.ts";

/** Attempts to connect without a result in between: before the first result, when the address may be wrong, and later. */
const MAX_FIRST_ATTEMPTS = 3;
const MAX_ATTEMPTS = 10;
const INITIAL_DELAY_MS = 250;
const MAX_DELAY_MS = 10_000;
/** Delays are extended at random by up to this fraction, so that clients do not reconnect at the same time. */
const JITTER = 0.5;
/** The service may ask for a delay until the next month. Then the command ends instead. */
const MAX_REQUESTED_DELAY_MS = 60_000;

/** Reconnects a command to a service that may restart, which takes longer than the retries of a client last. */
export class StreamReconnect implements RetryPolicy {
  readonly #onRetry: (error: Error, delayMs: number) => void;
  #attempts = 0;
  #hasResult = false;

  /** `onRetry` is called before another attempt to connect, if the one before it had no result. */
  constructor(onRetry: (error: Error, delayMs: number) => void) {
    this.#onRetry = onRetry;
  }

  succeed(): void {
    this.#attempts = 0;
    this.#hasResult = true;
  }

  delayAfter(error: VisageError): number {
    if (!error.retryable || error.retryAfterMs > MAX_REQUESTED_DELAY_MS) throw error;
    const attempts = ++this.#attempts;
    if (attempts >= (this.#hasResult ? MAX_ATTEMPTS : MAX_FIRST_ATTEMPTS))
      throw new Error(`${error.message} (after ${attempts} attempts)`, { cause: error });
    const backoffMs = Math.min(MAX_DELAY_MS, INITIAL_DELAY_MS * 2 ** (attempts - 1));
    const delayMs = Math.max(error.retryAfterMs, backoffMs) * (1 + JITTER * Math.random());
    // The service ends a stream now and then, so that clients spread over replicas.
    if (attempts > 1) this.#onRetry(error, delayMs);
    return delayMs;
  }
}
