import { expect, test } from "vitest";
import { roundDown, roundUp } from "../../src/web/playground/measurements.ts";

test.each([
  [69.96, "69.9"],
  [70, "70.0"],
  [70.04, "70.0"],
  [131.27, "131.2"],
])("a light of %d, which fails below 70, is written as %s", (light, text) => {
  expect(roundDown(light)).toBe(text);
});

test.each([
  [50.04, "50.1"],
  [50, "50.0"],
  [3.21, "3.3"],
  [0, "0.0"],
])("a yaw of %d, which fails above 50, is written as %s", (yaw, text) => {
  expect(roundUp(yaw)).toBe(text);
});
