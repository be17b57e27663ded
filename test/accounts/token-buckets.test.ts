import { describe, expect, test } from "vitest";
import { TokenBuckets } from "../../src/accounts/token-buckets.ts";

const RATE = { perSecond: 2, burst: 5 };
/** An arbitrary time of a monotonic clock. */
const START_MS = 1_234_567.891;

/** Tries to take a number of tokens at once and returns how many it got. */
function takeMany(buckets: TokenBuckets, key: string, count: number, nowMs: number, rate = RATE): number {
  return Array.from({ length: count }, () => buckets.take(key, rate, nowMs)).filter((shortage) => !shortage)
    .length;
}

describe("token buckets", () => {
  test("allow a burst, then report when the next token arrives and when the bucket is full", () => {
    const buckets = new TokenBuckets();
    expect(takeMany(buckets, "a", 20, START_MS)).toBe(5);
    expect(buckets.take("a", RATE, START_MS)).toEqual({ nextTokenSeconds: 0.5, fullSeconds: 2.5 });
    expect(buckets.take("a", RATE, START_MS + 300)?.nextTokenSeconds).toBeCloseTo(0.2);
    expect(buckets.take("a", RATE, START_MS + 501)).toBeUndefined();
    expect(buckets.take("a", RATE, START_MS + 501)?.nextTokenSeconds).toBeCloseTo(0.499);
  });

  test.each([
    { perSecond: 0.1, burst: 1 },
    { perSecond: 3, burst: 7 },
    { perSecond: 50, burst: 100 },
  ])("allow $perSecond tokens per second after a burst of $burst, at any polling rate", (rate) => {
    const buckets = new TokenBuckets();
    let taken = 0;
    for (let ms = 0; ms <= 60_000; ms += 7) taken += takeMany(buckets, "a", 3, START_MS + ms, rate);
    const max = rate.burst + 60 * rate.perSecond;
    expect(taken).toBeLessThanOrEqual(max);
    expect(taken).toBeGreaterThanOrEqual(max - 1);
  });

  test("take tokens back, up to the burst", () => {
    const buckets = new TokenBuckets();
    takeMany(buckets, "a", 5, START_MS);
    buckets.give("a", RATE, START_MS);
    buckets.give("a", RATE, START_MS);
    expect(takeMany(buckets, "a", 5, START_MS)).toBe(2);
    for (let i = 0; i < 9; i++) buckets.give("a", RATE, START_MS);
    expect(takeMany(buckets, "a", 20, START_MS)).toBe(5);
  });

  test("never hold more tokens than the burst", () => {
    const buckets = new TokenBuckets();
    takeMany(buckets, "a", 5, START_MS);
    expect(takeMany(buckets, "a", 20, START_MS + 3_600_000)).toBe(5);
  });

  test("are separate for each key", () => {
    const buckets = new TokenBuckets();
    expect(takeMany(buckets, "a", 6, START_MS)).toBe(5);
    expect(takeMany(buckets, "b", 6, START_MS)).toBe(5);
  });

  test("can be inspected without taking a token", () => {
    const buckets = new TokenBuckets();
    for (let i = 0; i < 20; i++) expect(buckets.peek("a", RATE, START_MS)).toBeUndefined();
    takeMany(buckets, "a", 5, START_MS);
    expect(buckets.peek("a", RATE, START_MS)).toEqual(buckets.take("a", RATE, START_MS));
  });

  test("apply a changed rate to the next token", () => {
    const buckets = new TokenBuckets();
    takeMany(buckets, "a", 5, START_MS);
    expect(takeMany(buckets, "a", 9, START_MS + 1000, { perSecond: 4, burst: 3 })).toBe(3);
  });

  test("are dropped when they are full again", () => {
    const buckets = new TokenBuckets();
    for (let key = 0; key < 1000; key++) buckets.take(String(key), RATE, START_MS);
    expect(buckets.size).toBe(1000);
    buckets.take("later", RATE, START_MS + 501);
    expect(buckets.size).toBe(1);
  });

  test("are limited to 20,000; the least recently used are dropped first", () => {
    const buckets = new TokenBuckets();
    takeMany(buckets, "old", 5, START_MS);
    takeMany(buckets, "busy", 4, START_MS);
    for (let key = 0; key < 19_999; key++) buckets.take(String(key), RATE, START_MS);
    buckets.take("busy", RATE, START_MS);
    for (let key = 0; key < 10_000; key++) buckets.take(`more ${key}`, RATE, START_MS);
    expect(buckets.size).toBe(20_000);
    expect(takeMany(buckets, "busy", 5, START_MS)).toBe(0);
    expect(takeMany(buckets, "old", 5, START_MS)).toBe(5);
  });
});
