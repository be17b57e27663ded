/** Rate of a token bucket. */
export interface Rate {
  readonly perSecond: number;
  /** Capacity of the bucket; at least 1. */
  readonly burst: number;
}

/** State of a bucket that has no whole token. */
export interface Shortage {
  /** Seconds until the bucket has a token. */
  readonly nextTokenSeconds: number;
  /** Seconds until the bucket is full. */
  readonly fullSeconds: number;
}

interface Bucket {
  readonly tokens: number;
  readonly updatedAtMs: number;
  readonly fullAtMs: number;
}

const MAX_BUCKETS = 20_000;

/**
 * Token buckets by key, initially full. Times are milliseconds of a monotonic clock. Full buckets are dropped; beyond
 * 20,000 buckets, the least recently used ones are dropped too.
 */
export class TokenBuckets {
  // A map iterates in insertion order, and a used bucket is inserted again: the least recently used come first.
  readonly #buckets = new Map<string, Bucket>();

  /** Number of buckets in memory. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Takes a token. Returns undefined on success, otherwise the shortage. */
  take(key: string, rate: Rate, nowMs: number): Shortage | undefined {
    const tokens = this.#availableTokens(key, rate, nowMs);
    if (tokens < 1) return createShortage(tokens, rate);
    this.#set(key, rate, tokens - 1, nowMs);
    this.#evict(nowMs);
    return undefined;
  }

  /** Gives a token back. */
  give(key: string, rate: Rate, nowMs: number): void {
    if (this.#buckets.has(key)) this.#set(key, rate, this.#availableTokens(key, rate, nowMs) + 1, nowMs);
  }

  /** Returns what `take` would return, without taking a token. */
  peek(key: string, rate: Rate, nowMs: number): Shortage | undefined {
    const tokens = this.#availableTokens(key, rate, nowMs);
    return tokens < 1 ? createShortage(tokens, rate) : undefined;
  }

  #availableTokens(key: string, rate: Rate, nowMs: number): number {
    const bucket = this.#buckets.get(key);
    if (!bucket) return rate.burst;
    return Math.min(rate.burst, bucket.tokens + ((nowMs - bucket.updatedAtMs) / 1000) * rate.perSecond);
  }

  #set(key: string, rate: Rate, tokens: number, nowMs: number): void {
    const { fullSeconds } = createShortage(tokens, rate);
    this.#buckets.delete(key);
    this.#buckets.set(key, { tokens, updatedAtMs: nowMs, fullAtMs: nowMs + fullSeconds * 1000 });
  }

  #evict(nowMs: number): void {
    for (const [key, { fullAtMs }] of this.#buckets) {
      if (fullAtMs > nowMs && this.#buckets.size <= MAX_BUCKETS) break;
      this.#buckets.delete(key);
    }
  }
}

function createShortage(tokens: number, { perSecond, burst }: Rate): Shortage {
  return { nextTokenSeconds: (1 - tokens) / perSecond, fullSeconds: (burst - tokens) / perSecond };
}
