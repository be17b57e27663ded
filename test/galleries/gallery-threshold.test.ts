import { describe, expect, test } from "vitest";
import { readFalseMatchRates } from "../../src/core/index.ts";
import {
  describeDistance,
  type GalleryThreshold,
  overallThreshold,
  thresholdForSize,
} from "../../src/galleries/gallery-threshold.ts";

const rates = readFalseMatchRates();

test.each([1, 100, 1_000, 4_000, 10_000])(
  "a gallery of %i adults has at most 0.3 %% of false positives",
  (size) => {
    const { distance, falsePositiveRate, candidatesReason } = thresholdForSize(size, rates, ["adults"]);
    expect(distance).toBeGreaterThan(0.4);
    expect(distance).toBeLessThan(0.48);
    expect(falsePositiveRate).toBeLessThanOrEqual(0.003001);
    expect(candidatesReason).toBeUndefined();
  },
);

test("a larger gallery gives candidates", () => {
  const threshold = thresholdForSize(10_001, rates, ["adults"]);
  expect(threshold).toMatchObject({ distance: 0.5, candidatesReason: "gallerySize" });
});

test("a threshold falls with the size of the gallery", () => {
  const sizes = [1, 100, 101, 500, 2_000, 9_999];
  const distances = sizes.map((size) => thresholdForSize(size, rates, ["men20To59"]).distance);
  expect(distances).toEqual(distances.toSorted((a, b) => b - a));
  expect(new Set(distances).size).toBe(5);
});

describe("the threshold of a probe", () => {
  const thresholdOf = (...populations: Parameters<typeof thresholdForSize>[2]) =>
    thresholdForSize(100, rates, populations);

  test("is stricter for women and teenagers than for men", () => {
    expect(thresholdOf("women20To59").distance).toBeLessThan(thresholdOf("men20To59").distance);
    expect(thresholdOf("age10To19").distance).toBeLessThan(thresholdOf("women20To59").distance);
  });

  test("is the strictest of those to whom it may belong", () => {
    expect(thresholdOf("men20To59", "age10To19")).toEqual(thresholdOf("age10To19"));
  });

  test.each(["age0To2", "age3To9"] as const)("of %s does not exist: people are candidates", (child) => {
    const threshold = thresholdOf("women20To59", child);
    expect(threshold).toMatchObject({ distance: 0.5, candidatesReason: "population", population: child });
    expect(threshold.falsePositiveRate).toBeGreaterThan(0.9);
  });
});

test("the user's own threshold is described by what it means for the gallery", () => {
  const rateOf = (distance: number, size: number) =>
    describeDistance(distance, size, rates, ["adults"]).falsePositiveRate;
  const { falseMatchRate } = rates.atMatchDistance(["adults"]);
  expect(rateOf(0.5, 1)).toBeCloseTo(falseMatchRate, 9);
  expect(rateOf(0.5, 1_000)).toBeCloseTo(1 - (1 - falseMatchRate) ** 1_000, 9);
  expect(rateOf(0.7, 10)).toBeUndefined();
  expect(rateOf(0.2, 10)).toBeUndefined();
});

test("the thresholds of several faces are summed up by the strictest and the highest rate", () => {
  const strict: GalleryThreshold = {
    distance: 0.43,
    falsePositiveRate: 0.001,
    population: "age10To19",
    candidatesReason: undefined,
  };
  const loose: GalleryThreshold = {
    ...strict,
    distance: 0.5,
    falsePositiveRate: 0.9,
    candidatesReason: "population",
  };
  expect(overallThreshold([strict, loose])).toEqual({
    distance: 0.43,
    falsePositiveRate: 0.9,
    isForCandidates: true,
  });
  const unknown = { ...strict, falsePositiveRate: undefined };
  expect(overallThreshold([strict, unknown]).falsePositiveRate).toBeUndefined();
});
