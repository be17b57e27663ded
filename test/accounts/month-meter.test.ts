import { describe, expect, test } from "vitest";
import { MonthMeter } from "../../src/accounts/month-meter.ts";

/** A meter of so many successes of our own. */
function meterAfter(successes: number): MonthMeter {
  const meter = new MonthMeter();
  for (let number = 0; number < successes; number++) {
    meter.begin();
    meter.end(true);
  }
  return meter;
}

describe("the meter of a month", () => {
  test("counts what succeeded, and what is under way until it ends", () => {
    const meter = meterAfter(3);
    meter.begin();
    meter.begin();
    expect(meter).toMatchObject({ used: 3, underWay: 2 });
    meter.end(false);
    meter.end(true);
    expect(meter).toMatchObject({ used: 4, underWay: 0 });
  });

  test.each([
    ["before anything was sent", 10, 3, 13],
    ["after a part was sent", 10, 1, 11],
    ["after all was sent", 10, 0, 10],
  ])("adds a stored count %s", (_, stored, unsent, used) => {
    const meter = meterAfter(3);
    meter.learn(stored, unsent);
    expect(meter.used).toBe(used);
  });

  test("never goes back for a count that has come late", () => {
    const meter = meterAfter(3);
    meter.learn(10, 0);
    meter.learn(7, 0);
    expect(meter.used).toBe(10);
    meter.learn(12, 0);
    expect(meter.used).toBe(12);
  });
});
