import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Population } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { readFalseMatchRates } from "../../src/core/index.ts";
import { MATCH_DISTANCE as CORE_MATCH_DISTANCE } from "../../src/core/steps/compare.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { POPULATIONS } from "../../src/service/typed-messages.ts";
import {
  errorRatesAt,
  MATCH_DISTANCE,
  MAX_THRESHOLD,
  MIN_THRESHOLD,
  percentText,
} from "../../src/web/playground/match/curve.ts";
import { figureText, judge, ratesText } from "../../src/web/playground/match/verdict.ts";
import type { Comparison, FaceMatch } from "../../src/web/playground/responses.ts";
import type { PopulationName } from "../../src/web/site/populations.ts";

const rates = readFalseMatchRates();

describe("what the playground knows about distances", () => {
  test.each(Object.entries(POPULATIONS))("are the service's false matches of %s", (population, value) => {
    expect(MATCH_DISTANCE).toBe(CORE_MATCH_DISTANCE);
    const name = `POPULATION_${Population[value]}` as PopulationName;
    for (let step = 0; step <= 20; step++) {
      const threshold = Number((MIN_THRESHOLD + step / 100).toFixed(2));
      const { falseMatchRate, extrapolated } = rates.at(threshold, [population as keyof typeof POPULATIONS])!;
      const { falseMatches, isEstimated } = errorRatesAt(threshold, name, rates.model)!;
      expect(falseMatches / falseMatchRate, `${threshold}`).toBeCloseTo(1, 9);
      expect(isEstimated, `${threshold}`).toBe(extrapolated);
    }
    expect(rates.at(MAX_THRESHOLD + 0.001, ["adults"])).toBeUndefined();
  });

  test("are the missed matches of the accuracy report", () => {
    const report = readFileSync(join(PACKAGE_ROOT, "bench/results/accuracy.md"), "utf8");
    const rows = [...report.matchAll(/^\| (0\.\d\d) \| [\d.]+ % \| ([\d.]+) % \| [\d.]+ % \|$/gm)];
    expect(rows).toHaveLength(9);
    for (const [, threshold, percent] of rows) {
      const { missedMatches } = errorRatesAt(Number(threshold), "POPULATION_ADULTS", rates.model)!;
      expect(missedMatches, threshold).toBeCloseTo(Number(percent) / 100, 9);
    }
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

describe("the verdict of a match", () => {
  const match = (distance: number, matched: boolean): FaceMatch => ({
    box: { x1: 0, y1: 0, x2: 1, y2: 1 },
    distance: Math.fround(distance),
    confidence: 0.6,
    matched,
    threshold: 0.5,
    falseMatchRate: 0.0013,
    extrapolated: false,
    population: "POPULATION_WOMEN_20_TO_59",
  });

  test.each([
    [match(0.3, true), 0.5, "Match", false],
    [match(0.5, true), 0.5, "Match, but borderline", true],
    [match(0.5, false), 0.5, "Not a match, but borderline", true],
    [match(0.51, false), 0.52, "Match at 0.52, but borderline", true],
    [match(0.51, false), 0.6, "Match at 0.60", false],
    [match(0.49, true), 0.4, "Not a match at 0.40", false],
  ])("follows the threshold: %o at %d", (one, threshold, text, isBorderline) => {
    const verdict = judge(one, threshold);
    expect(verdict.text).toBe(text);
    expect(verdict.isMatch).toBe(text.startsWith("Match"));
    expect(verdict.advice !== undefined).toBe(isBorderline);
  });

  test("has the distance of the response, and both errors in one unit for its population", () => {
    expect(figureText(match(0.58, false))).toBe("distance 0.58, confidence 60%");
    const response = (model: string): Comparison => ({
      matches: [],
      sourceBox: { x1: 0, y1: 0, x2: 1, y2: 1 },
      model,
    });
    expect(ratesText(response(rates.model), match(0.58, false), 0.5)).toBe(
      "At 0.50, 1 in 740 pairs of different women of 20 to 59 match by mistake (measured), and 1 in 71 pairs of one person is missed (measured with adults).",
    );
    expect(ratesText(response("another"), match(0.58, false), 0.5)).toContain("was not measured");
  });
});
