import { expect, test } from "vitest";
import { Pace } from "../src/pace.ts";

/** What a caller waits for each of so many that it asks for at one moment. */
function delaysOf(pace: Pace, caller: string, count: number, nowMs: number): number[] {
  return Array.from({ length: count }, () => pace.delayOf(caller, nowMs));
}

test("a second's worth comes at once, and what is more at its pace", () => {
  expect(delaysOf(new Pace(4), "one", 7, 1000)).toEqual([0, 0, 0, 0, 250, 500, 750]);
});

test("nobody waits longer than a second, nor pays for more than that later", () => {
  const pace = new Pace(4);
  expect(delaysOf(pace, "one", 100, 1000).at(-1)).toBe(1000);
  expect(pace.delayOf("one", 2000)).toBe(250);
});

test("one who keeps to the pace never waits", () => {
  const pace = new Pace(4);
  expect(Array.from({ length: 100 }, (_, i) => pace.delayOf("one", 250 * i))).not.toContain(250);
});

test("what one asks for does not delay another", () => {
  const pace = new Pace(4);
  delaysOf(pace, "one", 100, 1000);
  expect(pace.delayOf("other", 1000)).toBe(0);
});
