import type { CallLimits } from "./call-runner.ts";
import { delayAfter, isRejection } from "./retry.ts";
import type { VisageError } from "./visage-error.ts";

/** Decides whether a stream that broke is opened again. */
export interface RetryPolicy {
  /** Reports that a message came. */
  succeed(): void;
  /**
   * Reports that the stream broke. Returns the delay before the next attempt in milliseconds. Throws if another attempt
   * cannot help, or enough were made.
   */
  delayAfter(error: VisageError): number;
}

/** Decides by the limits of a client whether a stream that broke is opened again: `retries` times without a new message in between. */
export class StreamRetry implements RetryPolicy {
  readonly #limits: CallLimits;
  /** Failures since the last message. */
  #failures = 0;
  #firstFailureMs = 0;

  constructor(limits: CallLimits) {
    this.#limits = limits;
  }

  succeed(): void {
    this.#failures = 0;
  }

  /** A stream that the service rejects because of its load or a rate limit is opened again until the deadline. */
  delayAfter(error: VisageError): number {
    const { retries, timeoutMs } = this.#limits;
    const nowMs = performance.now();
    const attempt = this.#failures++;
    if (attempt === 0) this.#firstFailureMs = nowMs;
    const delayMs = delayAfter(error, attempt);
    const isTooLate = nowMs + delayMs >= this.#firstFailureMs + timeoutMs;
    const isTooOften = isRejection(error) ? retries === 0 || isTooLate : attempt >= retries;
    if (isTooOften || !error.retryable) throw error;
    return delayMs;
  }
}
