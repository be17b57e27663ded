import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AGE_RANGES, type Analyzer, type Face } from "../../../src/core/index.ts";
import {
  ALL_FACES,
  faceAt,
  mirrorBox,
  mirrorPhotograph,
  openRealAnalyzer,
  PROFILE,
  SAMPLES,
  type Sample,
} from "../../support/faces.ts";
import { photograph } from "../../support/images.ts";

let analyzer: Analyzer;
const found = new Map<Sample, readonly Face[]>();
beforeAll(async () => {
  analyzer = await openRealAnalyzer();
  for (const sample of SAMPLES) found.set(sample, (await analyzer.analyze(photograph(sample))).faces);
});
afterAll(() => analyzer.close());

const all = () => ALL_FACES.map(({ sample, box }) => faceAt(found.get(sample)!, box));

test("age is one of five ranges", () => {
  expect(AGE_RANGES).toEqual(["0-10", "10-20", "20-40", "40-60", "60-100"]);
  for (const { age } of all()) expect(AGE_RANGES).toContain(age);
});

test("all women are classified as 10 to 60, and most as 20 to 40", () => {
  const ages = all().map(({ age }) => age);
  expect(ages).not.toContain("0-10");
  expect(ages).not.toContain("60-100");
  expect(ages.filter((age) => age === "20-40").length).toBeGreaterThanOrEqual(18);
});

test("gender has a confidence of 0.501 to 1", () => {
  for (const { gender, genderConfidence } of all()) {
    expect(["male", "female"]).toContain(gender);
    expect(genderConfidence).toBeGreaterThanOrEqual(0.501);
    expect(genderConfidence).toBeLessThanOrEqual(1);
  }
});

test("at most one of the 22 women is classified as male", () => {
  expect(all().filter(({ gender }) => gender === "male").length).toBeLessThanOrEqual(1);
});

describe.each(SAMPLES)("photograph %i mirrored", (sample) => {
  test("gives the same gender and nearly the same age", async () => {
    const { faces } = await analyzer.analyze(await mirrorPhotograph(sample));
    for (const { box } of ALL_FACES.filter((face) => face.sample === sample && face.name !== PROFILE)) {
      const face = faceAt(found.get(sample)!, box);
      const reflection = faceAt(faces, mirrorBox(box));
      const [age, reflectedAge] = [face, reflection].map((one) => AGE_RANGES.indexOf(one.age!));
      expect(Math.abs(age! - reflectedAge!)).toBeLessThanOrEqual(1);
      expect(reflection.gender).toBe(face.gender);
      expect(Math.abs(reflection.genderConfidence! - face.genderConfidence!)).toBeLessThan(0.35);
    }
  });
});
