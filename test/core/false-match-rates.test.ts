import { describe, expect, test } from "vitest";
import { type CalibrationCurve, FalseMatchRates } from "../../src/core/false-match-rates.ts";
import { readFalseMatchRates } from "../../src/core/index.ts";
import { POPULATIONS } from "../../src/core/populations.ts";

const curve = (rates: readonly number[]): CalibrationCurve => ({
  people: 2,
  pairs: 1,
  measuredFrom: 0.5,
  rates,
});
const low = curve([1e-6, 1e-4, 1e-2]);
const high = curve([1e-3, 1e-2, 1e-1]);
const rates = new FalseMatchRates({
  model: "test",
  distances: [0.4, 0.5, 0.6],
  populations: {
    ...(Object.fromEntries(POPULATIONS.map((name) => [name, low])) as Record<
      (typeof POPULATIONS)[number],
      CalibrationCurve
    >),
    age0To2: high,
  },
});

describe("the rate of a distance", () => {
  test("is that of the worst population", () => {
    expect(rates.at(0.5, ["adults"])).toEqual({
      distance: 0.5,
      falseMatchRate: 1e-4,
      extrapolated: false,
      population: "adults",
    });
    expect(rates.at(0.5, ["adults", "age0To2"])).toMatchObject({
      falseMatchRate: 1e-2,
      population: "age0To2",
    });
  });

  test("is interpolated, and extrapolated below the measured distances", () => {
    const rated = rates.at(0.45, ["adults"])!;
    expect(rated.falseMatchRate).toBeCloseTo(1e-5, 12);
    expect(rated.extrapolated).toBe(true);
    expect(rates.at(0.4, ["adults"])!.falseMatchRate).toBe(1e-6);
    expect(rates.at(0.6, ["adults"])!.falseMatchRate).toBe(1e-2);
  });

  test.each([0.399, 0.601, 0, Number.NaN])("is unknown at %d", (distance) => {
    expect(rates.at(distance, ["adults"])).toBeUndefined();
  });
});

describe("the threshold of a rate", () => {
  test("is where the curve has this rate", () => {
    const threshold = rates.thresholdFor(1e-3, ["adults"])!;
    expect(threshold.distance).toBeCloseTo(0.55, 9);
    expect(threshold).toMatchObject({ falseMatchRate: 1e-3, extrapolated: false });
    expect(rates.thresholdFor(1e-5, ["adults"])).toMatchObject({ extrapolated: true });
  });

  test.each([[["adults", "age0To2"]], [["age0To2", "adults"]]] as const)(
    "is the strictest of %j",
    (populations) => {
      const threshold = rates.thresholdFor(1e-2, populations)!;
      expect(threshold.distance).toBeCloseTo(0.5, 9);
      expect(threshold.population).toBe("age0To2");
    },
  );

  test.each([[["adults", "age0To2"]], [["age0To2", "adults"]], [["age0To2"]]] as const)(
    "does not exist below the curve of one of %j",
    (populations) => {
      expect(rates.thresholdFor(1e-4, populations)).toBeUndefined();
    },
  );

  test("ends with the curve, and has the rate at its end", () => {
    expect(rates.thresholdFor(1, ["adults"])).toMatchObject({ distance: 0.6, falseMatchRate: 1e-2 });
  });
});

describe("the calibration of the networks", () => {
  const measured = readFalseMatchRates();
  const at = (population: (typeof POPULATIONS)[number]) =>
    measured.atMatchDistance([population]).falseMatchRate;

  test("has a rising curve for every population", () => {
    for (const population of POPULATIONS) {
      const curve = Array.from(
        { length: 21 },
        (_, i) => measured.at((40 + i) / 100, [population])!.falseMatchRate,
      );
      expect(curve, population).toEqual(curve.toSorted((a, b) => a - b));
    }
  });

  test("mistakes children for each other far more often than adults", () => {
    expect(at("age0To2")).toBeGreaterThan(100 * at("adults"));
    expect(at("age3To9")).toBeGreaterThan(10 * at("adults"));
    expect(at("women20To59")).toBeGreaterThan(at("men20To59"));
  });

  test("has no lower rate for faces without attributes than for anybody from 10 years on", () => {
    for (const population of ["age10To19", "women20To59", "men20To59", "women60Up", "men60Up"] as const)
      expect(at("age10Up"), population).toBeGreaterThanOrEqual(at(population));
  });
});
