import { expect, test } from "vitest";
import { plausiblePopulations } from "../../src/core/populations.ts";

/** Probabilities of the nine age classes, from 0-2 to 70 and more. */
const ages = (...given: readonly (readonly [index: number, probability: number])[]) => {
  const probabilities = new Float32Array(9);
  for (const [index, probability] of given) probabilities[index] = probability;
  return probabilities;
};

test.each([
  ["a clear age and gender", ages([4, 0.9], [3, 0.1]), 0.95, ["men20To59"]],
  ["a clear age and an unclear gender", ages([4, 1]), 0.6, ["women20To59", "men20To59"]],
  ["an age between two ranges", ages([2, 0.4], [3, 0.6]), 0.05, ["age10To19", "women20To59"]],
  ["ages of one range together", ages([7, 0.2], [8, 0.2], [6, 0.6]), 0.9, ["men20To59", "men60Up"]],
  ["a child of unclear gender", ages([1, 0.8], [0, 0.2]), 0.5, ["age3To9"]],
  ["a child who may be an infant", ages([1, 0.6], [0, 0.4]), 0.5, ["age0To2", "age3To9"]],
  [
    "no age above the limit",
    ages([0, 0.2], [1, 0.2], [2, 0.2], [3, 0.2], [8, 0.2]),
    1,
    ["age0To2", "age3To9", "age10To19", "men20To59", "men60Up"],
  ],
] as const)("%s", (_, probabilities, male, expected) => {
  expect(plausiblePopulations(probabilities, male)).toEqual(expected);
});
