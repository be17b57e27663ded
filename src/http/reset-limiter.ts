import { TokenBuckets } from "../accounts/token-buckets.ts";
import { LIMITS } from "./limits.ts";

const RATE = { perSecond: LIMITS.resetsPerSecond, burst: LIMITS.resets };

/**
 * Limits how many HTTP/2 requests the clients of an address may reset as soon as they have sent them. Each costs the
 * service far more than the client. A request that is answered makes up for one that was reset.
 */
export class ResetLimiter {
  readonly #buckets = new TokenBuckets();

  /** Counts a reset. Returns false beyond the limit. */
  takeReset(address: string): boolean {
    return this.#buckets.take(address, RATE, performance.now()) === undefined;
  }

  recordAnswer(address: string): void {
    this.#buckets.give(address, RATE, performance.now());
  }

  /** Whether the address has reached the limit. */
  isExhausted(address: string): boolean {
    return this.#buckets.peek(address, RATE, performance.now()) !== undefined;
  }
}
