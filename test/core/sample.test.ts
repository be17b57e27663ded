import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_MODELS_DIR } from "../../models/prepare.ts";
import { IMAGES, memory, withCanvas } from "../../src/core/drawing-memory.ts";
import { lengthOfLevels } from "../../src/core/image-memory.ts";
import { drawnFace, openAnalyzer } from "../../src/core/index.ts";
import { forget, sample } from "../../src/core/sample.ts";
import type { Pixels } from "../../src/core/types.ts";

const SIDE = 8;
const canvas = await withCanvas(async (lent) => lent.subarray(0, 3 * SIDE ** 2));

function plain(value: number): Pixels {
  return { width: SIDE, height: SIDE, data: new Uint8Array(3 * SIDE ** 2).fill(value) };
}

/** The values in a crop that shows the whole of an image. */
function valuesOf(pixels: Pixels): number[] {
  const grid = { x: 0, y: 0, a: 1, b: 0, gap: 0, side: SIDE };
  sample(pixels, 0, grid, { scale: 1, offset: 0 }, canvas);
  return [...new Set(canvas)];
}

function isInMemory(value: number): boolean {
  return new Uint8Array(memory.buffer, IMAGES).includes(value);
}

test("calls leave no image behind", async () => {
  const analyzer = await openAnalyzer({ modelsDir: DEFAULT_MODELS_DIR });
  onTestFinished(() => analyzer.close());
  const face = drawnFace();
  await analyzer.embed(face);
  await analyzer.analyze(face);
  const boxes = [{ x1: 0, y1: 0, x2: 20, y2: 20 }];
  await expect(analyzer.embed(face, { boxes })).rejects.toMatchObject({ kind: "noFaceInBox" });
  await analyzer.embed(face);
  const length = lengthOfLevels(256, 256);
  expect(new Uint8Array(memory.buffer, IMAGES + length).every((byte) => byte === 0)).toBe(true);
});

test("the next image takes the place of those that are forgotten, and of no other", () => {
  const [one, two, three, four] = [plain(11), plain(22), plain(33), plain(44)];
  expect([one, two].map(valuesOf)).toEqual([[11], [22]]);

  forget(one);
  forget(one);
  expect([two, three].map(valuesOf)).toEqual([[22], [33]]);
  expect([11, 22, 33].map(isInMemory)).toEqual([true, true, true]);

  forget(two);
  forget(three);
  expect(valuesOf(four)).toEqual([44]);
  expect([11, 22, 33].map(isInMemory)).toEqual([false, true, true]);
  expect(valuesOf(one)).toEqual([11]);
});

test("one that is forgotten after all had to make way takes no other with it", () => {
  const early = plain(55);
  valuesOf(early);
  const large = { width: 2048, height: 2048, data: new Uint8Array(3 * 2048 ** 2) };
  valuesOf(large);
  const late = plain(66);
  valuesOf(late);
  forget(early);
  valuesOf(plain(77));
  expect(isInMemory(66)).toBe(true);
  expect(valuesOf(late)).toEqual([66]);
});
