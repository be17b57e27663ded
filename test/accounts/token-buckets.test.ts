import { describe, expect, test } from "vitest";
import { TokenBuckets } from "../../src/accounts/token-buckets.ts";

const RATE = { perSecond: 2, burst: 5 };
/** Such as performance.now() gives after a while. */
const START_MS = 1_234_567.891;

/** How many of a number of tokens can be taken at one moment. */
function takeMany(buckets: TokenBuckets, key: string, count: number, nowMs: number, rate = RATE): number {
  return Array.from({ length: count }, () => buckets.take(key, rate, nowMs)).filter((lack) => !lack).length;
}

describe("buckets of tokens", () => {
  test("give as many at once as they hold, then tell when the next comes and when all are back", () => {
    const buckets = new TokenBuckets();
    expect(takeMany(buckets, "a", 20, START_MS)).toBe(5);
    expect(buckets.take("a", RATE, START_MS)).toEqual({ nextSeconds: 0.5, fullSeconds: 2.5 });
    expect(buckets.take("a", RATE, START_MS + 300)?.nextSeconds).toBeCloseTo(0.2);
    expect(buckets.take("a", RATE, START_MS + 501)).toBeUndefined();
    expect(buckets.take("a", RATE, START_MS + 501)?.nextSeconds).toBeCloseTo(0.499);
  });

  test.each([
    { perSecond: 0.1, burst: 1 },
    { perSecond: 3, burst: 7 },
    { perSecond: 50, burst: 100 },
  ])("give $perSecond a second after the first $burst, however often they are asked", (rate) => {
    const buckets = new TokenBuckets();
    let taken = 0;
    for (let ms = 0; ms <= 60_000; ms += 7) taken += takeMany(buckets, "a", 3, START_MS + ms, rate);
    const most = rate.burst + 60 * rate.perSecond;
    expect(taken).toBeLessThanOrEqual(most);
    expect(taken).toBeGreaterThanOrEqual(most - 1);
  });

  test("hold no more after a long time than at first", () => {
    const buckets = new TokenBuckets();
    takeMany(buckets, "a", 5, START_MS);
    expect(takeMany(buckets, "a", 20, START_MS + 3_600_000)).toBe(5);
  });

  test("are one for each key", () => {
    const buckets = new TokenBuckets();
    expect(takeMany(buckets, "a", 6, START_MS)).toBe(5);
    expect(takeMany(buckets, "b", 6, START_MS)).toBe(5);
  });

  test("can be looked into without taking", () => {
    const buckets = new TokenBuckets();
    for (let i = 0; i < 20; i++) expect(buckets.peek("a", RATE, START_MS)).toBeUndefined();
    takeMany(buckets, "a", 5, START_MS);
    expect(buckets.peek("a", RATE, START_MS)).toEqual(buckets.take("a", RATE, START_MS));
  });

  test("go by a new rate from the next token on", () => {
    const buckets = new TokenBuckets();
    takeMany(buckets, "a", 5, START_MS);
    expect(takeMany(buckets, "a", 9, START_MS + 1000, { perSecond: 4, burst: 3 })).toBe(3);
  });

  test("are forgotten when they are full again", () => {
    const buckets = new TokenBuckets();
    for (let key = 0; key < 1000; key++) buckets.take(String(key), RATE, START_MS);
    expect(buckets.size).toBe(1000);
    buckets.take("later", RATE, START_MS + 501);
    expect(buckets.size).toBe(1);
  });

  test("are never more than 20,000, and those in use stay", () => {
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
