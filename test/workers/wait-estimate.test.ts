import { describe, expect, test } from "vitest";
import { estimateWaitMs, JobCost } from "../../src/workers/wait-estimate.ts";

describe("estimateWaitMs", () => {
  test.each([
    ["no worker is known", [], 100, 100],
    ["a worker is idle", [0, 50], 0, 0],
    ["nothing waits", [30, 50], 0, 30],
    ["one worker is idle long before the other", [10, 500], 100, 110],
    ["both share the work", [0, 0], 100, 50],
    ["the second joins in", [10, 50], 100, 80],
    ["the third does not", [0, 20, 1000], 100, 60],
    ["all join in", [30, 20, 10], 90, 50],
  ])("if %s", (_, idleInMs, workMs, expected) => {
    expect(estimateWaitMs(idleInMs, workMs)).toBe(expected);
  });
});

describe("JobCost", () => {
  function costOf(...timesMs: number[]): JobCost {
    const cost = new JobCost();
    for (const ms of timesMs) cost.add(ms);
    return cost;
  }
  const many = (count: number, ms: number) => Array.from({ length: count }, () => ms);

  test("has no estimate before eight jobs have ended", () => {
    expect(costOf(...many(7, 100)).totalMs(10)).toBe(0);
    expect(costOf(...many(8, 100)).totalMs(10)).toBe(1000);
  });

  test("ignores one slow job and hardly changes with a few very slow ones", () => {
    expect(costOf(...many(8, 100), 9000).totalMs(10)).toBe(1000);
    expect(costOf(...many(60, 100), ...many(4, 60_000)).meanMs).toBeLessThan(140);
  });

  test("follows when all jobs become slower", () => {
    expect(costOf(...many(64, 10), ...many(64, 300)).meanMs).toBe(300);
    expect(costOf(...many(64, 10), ...many(40, 300)).meanMs).toBeGreaterThan(150);
  });

  test("estimates the remaining time of a running job, which grows once it is overdue", () => {
    const cost = costOf(...many(8, 100));
    expect([0, 60, 100, 140, 1100].map((ms) => cost.remainingMs(ms))).toEqual([100, 40, 0, 20, 500]);
    expect(costOf(...many(7, 100)).remainingMs(1100)).toBe(0);
  });

  test("is higher if durations vary", () => {
    const times = Array.from({ length: 64 }, (_, i) => (i % 2 ? 50 : 150));
    expect(costOf(...times).totalMs(16)).toBeGreaterThan(1900);
    expect(costOf(...times).meanMs).toBeCloseTo(100, -1);
  });
});
