import { describe, expect, test } from "vitest";
import { readFalseMatchRates } from "../../src/core/index.ts";
import { MATCH_DISTANCE as CORE_MATCH_DISTANCE, confidenceOf } from "../../src/core/steps/compare.ts";
import {
  CURVE_MODEL,
  confidenceAt,
  falseMatchRateAt,
  MATCH_DISTANCE,
  MAX_THRESHOLD,
  MIN_THRESHOLD,
  percentText,
} from "../../src/web/playground/match/curve.ts";

describe("what the playground knows about distances", () => {
  test("is the measured curve of the service's model", () => {
    const rates = readFalseMatchRates();
    expect(CURVE_MODEL).toBe(rates.model);
    expect(MATCH_DISTANCE).toBe(CORE_MATCH_DISTANCE);
    expect(rates.at(MIN_THRESHOLD - 0.001, ["adults"])).toBeUndefined();
    expect(rates.at(MAX_THRESHOLD + 0.001, ["adults"])).toBeUndefined();
    for (let step = 0; step <= 200; step++) {
      const distance = Number((MIN_THRESHOLD + step / 1000).toFixed(3));
      const { falseMatchRate, extrapolated } = rates.at(distance, ["adults"])!;
      const { rate, isEstimated } = falseMatchRateAt(distance);
      expect(rate / falseMatchRate, `${distance}`).toBeCloseTo(1, 9);
      expect(isEstimated, `${distance}`).toBe(extrapolated);
    }
  });

  test("is the confidence that the service computes", () => {
    for (let distance = 0; distance <= 0.9; distance += 0.01)
      expect(confidenceAt(distance)).toBeCloseTo(confidenceOf(distance), 9);
  });

  test.each([
    [0.6, "60%"],
    [0.996, "99.6%"],
    [0.9999, "above 99.9%"],
    [0.004, "0.4%"],
    [0.00001, "below 0.1%"],
  ])("a confidence of %f is written in percent and never certain", (confidence, text) => {
    expect(percentText(confidence)).toBe(text);
  });
});
