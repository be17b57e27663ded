/** How fast tokens come, and how many a bucket holds. */
export interface Rate {
  readonly perSecond: number;
  /** At least 1. */
  readonly burst: number;
}

/** A bucket without a whole token: how long until it has one, and until it is full. */
export interface Shortage {
  readonly nextSeconds: number;
  readonly fullSeconds: number;
}

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
  readonly fullAtMs: number;
}

const MAX_BUCKETS = 20_000;

/**
 * A bucket of tokens for each key, full at first. Times are milliseconds of a clock that never goes back.
 * Buckets that are full again are forgotten; of too many, those that were left alone longest.
 */
export class TokenBuckets {
  // A map keeps the order of arrival, and a bucket that is used arrives anew.
  readonly #buckets = new Map<string, Bucket>();

  /** How many are remembered. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Takes a token, or tells why there is none. */
  take(key: string, rate: Rate, nowMs: number): Shortage | undefined {
    const tokens = this.#tokensOf(key, rate, nowMs);
    if (tokens < 1) return shortageOf(tokens, rate);
    const left = tokens - 1;
    this.#buckets.delete(key);
    this.#buckets.set(key, {
      tokens: left,
      atMs: nowMs,
      fullAtMs: nowMs + shortageOf(left, rate).fullSeconds * 1000,
    });
    this.#forget(nowMs);
    return undefined;
  }

  /** Tells what `take` would, and takes nothing. */
  peek(key: string, rate: Rate, nowMs: number): Shortage | undefined {
    const tokens = this.#tokensOf(key, rate, nowMs);
    return tokens < 1 ? shortageOf(tokens, rate) : undefined;
  }

  #tokensOf(key: string, rate: Rate, nowMs: number): number {
    const bucket = this.#buckets.get(key);
    if (!bucket) return rate.burst;
    return Math.min(rate.burst, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * rate.perSecond);
  }

  #forget(nowMs: number): void {
    for (const [key, { fullAtMs }] of this.#buckets) {
      if (fullAtMs > nowMs && this.#buckets.size <= MAX_BUCKETS) break;
      this.#buckets.delete(key);
    }
  }
}

function shortageOf(tokens: number, { perSecond, burst }: Rate): Shortage {
  return { nextSeconds: (1 - tokens) / perSecond, fullSeconds: (burst - tokens) / perSecond };
}
