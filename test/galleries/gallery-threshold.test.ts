import { expect, test } from "vitest";
import { describeDistance, thresholdForSize } from "../../src/galleries/gallery-threshold.ts";
import { readFalseMatchCurve } from "../../src/model-manifest.ts";

const curve = readFalseMatchCurve();

// Measured on LFW with one photo of each person: 0.47, 0.45, 0.43 and 0.418 give about 0.3 % of false positives.
test.each([
  [1, 0.472],
  [100, 0.472],
  [1_000, 0.441],
  [4_000, 0.427],
  [10_000, 0.417],
])("a gallery of %i faces has the threshold %d", (size, distance) => {
  const threshold = thresholdForSize(size, curve);
  expect(threshold.distance).toBeCloseTo(distance, 2);
  expect(threshold.isForCandidates).toBe(false);
  expect(threshold.falsePositiveRate).toBeLessThanOrEqual(0.0031);
});

test("a larger gallery gives candidates", () => {
  expect(thresholdForSize(10_001, curve)).toMatchObject({ distance: 0.5, isForCandidates: true });
});

test("a threshold falls with the size of the gallery", () => {
  const distances = [1, 100, 101, 500, 2_000, 9_999].map((size) => thresholdForSize(size, curve).distance);
  expect(distances).toEqual(distances.toSorted((a, b) => b - a));
});

test("the user's own threshold is described by what it means for the gallery", () => {
  // At 0.5, a third of all strangers would be taken for somebody in a gallery of 1,000.
  expect(describeDistance(0.5, 1_000, curve).falsePositiveRate).toBeCloseTo(0.37, 1);
  expect(describeDistance(0.5, 1, curve).falsePositiveRate).toBeCloseTo(0.00046, 5);
  expect(describeDistance(0.7, 10, curve).falsePositiveRate).toBeUndefined();
  expect(describeDistance(0.2, 10, curve).falsePositiveRate).toBeUndefined();
});
