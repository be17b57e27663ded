import { describe, expect, test } from "vitest";
import { anglesChapter } from "../../bench/accuracy/angles.ts";
import { attributesChapter } from "../../bench/accuracy/attributes.ts";
import {
  chanceCalibrationError,
  expectedCalibrationError,
  formatBins,
} from "../../bench/accuracy/confidence-bins.ts";
import { crowdsChapter } from "../../bench/accuracy/crowds.ts";
import { missesAfterDiscarding } from "../../bench/accuracy/quality.ts";
import { opencvChapter } from "../../bench/speed/opencv.ts";
import type { AgeRange } from "../../src/core/index.ts";
import { everyNth } from "../../tools/support/every-nth.ts";
import { ATTRIBUTES } from "../support/face.ts";

test("the worst angle counts, and faces that are not found have no distance", () => {
  const { figures } = anglesChapter([
    { degrees: 15, photos: 4, distances: [0.1, 0.1, 0.1, 0.1] },
    { degrees: 180, photos: 4, distances: [0.3, 0.3, 0.6] },
  ]);
  expect(figures).toMatchObject([
    { measured: "87.5 %", isMet: false },
    { measured: "0.300", isMet: false },
  ]);
});

test("the largest crowd counts", () => {
  const crowd = (tilesPerRow: number, found: number, falsePositives: number) => ({
    ...{ tilesPerRow, mosaics: 1, faces: tilesPerRow ** 2, found, falsePositives },
  });
  const { figures } = crowdsChapter([crowd(5, 20, 9), crowd(14, 196, 2)]);
  expect(figures).toMatchObject([
    { measured: "196 of 196", isMet: true },
    { measured: "2", isMet: true },
  ]);
});

test("the photos of the lowest quality are discarded first", () => {
  const sample = (value: number, isMiss: boolean) => ({
    ...{ degradation: "any", quality: { value, components: [] }, isMiss },
  });
  const samples = [sample(90, false), sample(20, true), sample(60, true), sample(80, false)];
  expect([0, 0.25, 0.5, 1].map((share) => missesAfterDiscarding(samples, share))).toEqual([2, 1, 0, 0]);
});

test("subjects are taken at equal distances, and all if there are few", () => {
  expect(everyNth([0, 1, 2, 3, 4, 5, 6, 7], 4)).toEqual([0, 2, 4, 6]);
  expect(everyNth([0, 1], 4)).toEqual([0, 1]);
});

test("the core is compared with OpenCV, or the chapter says that there is no Python", () => {
  const rounds = [[26, 40], [24, 40], [25, 41]] as const; // biome-ignore format: pairs
  expect(opencvChapter(rounds).figures).toMatchObject([{ measured: "0.62 ± 0.02", isMet: true }]);
  expect(opencvChapter(undefined)).toMatchObject({
    figures: [],
    body: expect.stringContaining("Not measured"),
  });
});

describe("the calibration of confidences", () => {
  const answers = [
    ...Array.from({ length: 10 }, (_, i) => ({ confidence: 0.7, isCorrect: i < 5 })),
    ...Array.from({ length: 30 }, () => ({ confidence: 1, isCorrect: true })),
  ];
  const edges = [0.5, 0.75, 1];

  test("is the share correct in bins of the stated confidence, the last one with 1", () => {
    const table = formatBins(["confidence", "n", "mean", "correct"], answers, edges);
    expect(table).toContain("| 0.5 to 0.75 | 10 | 0.700 | 50.0 % |\n| 0.75 to 1 | 30 | 1.000 | 100.0 % |");
  });

  test("has an error that weighs bins by their answers", () => {
    expect(expectedCalibrationError(answers, edges)).toBeCloseTo((10 * 0.2 + 30 * 0) / 40, 12);
  });

  test("has an error by chance, which falls with the number of answers", () => {
    const fair = (count: number) =>
      Array.from({ length: count }, () => ({ confidence: 0.6, isCorrect: true }));
    expect(chanceCalibrationError(fair(20), edges)).toBeCloseTo(0.087, 2);
    expect(chanceCalibrationError(fair(2000), edges)).toBeCloseTo(0.0087, 3);
  });
});

test("the confusion of ages counts faces by label and answer, without those that were not found", () => {
  const portrait = (age: AgeRange, answer?: AgeRange) => ({
    ...{ file: "", age, gender: "male" as const },
    ...(answer && {
      predicted: { ...ATTRIBUTES, age: answer },
    }),
  });
  const { body } = attributesChapter([
    portrait("10-20", "10-20"),
    portrait("10-20", "20-40"),
    portrait("20-40", "10-20"),
    portrait("10-20"),
  ]);
  expect(body).toContain(
    "Of 3 faces labelled 10-20, 1 get this range. Of 2 faces that get it, 1 are labelled so",
  );
  expect(body).toContain("| 10-20 | 0 | 1 | 1 | 0 | 0 |\n| 20-40 | 0 | 1 | 0 | 0 | 0 |");
});
