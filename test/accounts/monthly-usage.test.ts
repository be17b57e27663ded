import { describe, expect, test } from "vitest";
import { MonthlyUsage } from "../../src/accounts/monthly-usage.ts";

/** Creates the usage of a user after a number of own successes. */
function usageAfter(successes: number): MonthlyUsage {
  const usage = new MonthlyUsage();
  for (let number = 0; number < successes; number++) {
    usage.start();
    usage.finish(true);
  }
  return usage;
}

describe("monthly usage", () => {
  test("counts successes, and requests in flight until they finish", () => {
    const usage = usageAfter(3);
    usage.start();
    usage.start();
    expect(usage).toMatchObject({ used: 3, inFlight: 2 });
    usage.finish(false);
    usage.finish(true);
    expect(usage).toMatchObject({ used: 4, inFlight: 0 });
  });

  test.each([
    ["before any batch was sent", 10, 3, 13],
    ["after some successes were sent", 10, 1, 11],
    ["after all successes were sent", 10, 0, 10],
  ])("adds the successes of other replicas from a stored count %s", (_, stored, unsent, expected) => {
    const usage = usageAfter(3);
    usage.updateFromStore(stored, unsent);
    expect(usage.used).toBe(expected);
  });

  test("counts a hundred keys separately, and all others together", () => {
    const usage = new MonthlyUsage();
    const names = Array.from({ length: 110 }, (_, i) => usage.countedKey(`key ${i}`));
    expect(names[99]).toBe("key 99");
    expect(new Set(names.slice(100))).toEqual(new Set(["other"]));
    expect(usage.countedKey("key 0")).toBe("key 0");
  });

  test("never decreases when an older count arrives late", () => {
    const usage = usageAfter(3);
    usage.updateFromStore(10, 0);
    usage.updateFromStore(7, 0);
    expect(usage.used).toBe(10);
    usage.updateFromStore(12, 0);
    expect(usage.used).toBe(12);
  });
});
