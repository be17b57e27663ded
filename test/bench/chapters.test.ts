import { expect, test } from "vitest";
import { anglesChapter } from "../../bench/accuracy/angles.ts";
import { crowdsChapter } from "../../bench/accuracy/crowds.ts";
import { everyNth } from "../../bench/accuracy/subjects.ts";
import { opencvChapter } from "../../bench/speed/opencv.ts";

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
