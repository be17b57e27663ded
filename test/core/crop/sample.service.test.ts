import { expect, onTestFinished, test } from "vitest";
import { IMAGES, memory, withCanvas } from "../../../src/core/crop/drawing-memory.ts";
import { lengthOfLevels } from "../../../src/core/crop/image-memory.ts";
import { forget, sample } from "../../../src/core/crop/sample.ts";
import { WHOLE_SIDE } from "../../../src/core/image/decode.ts";
import { createSyntheticFace, openAnalyzer } from "../../../src/core/index.ts";
import type { Pixels } from "../../../src/core/types.ts";
import { DEFAULT_MODELS_DIR } from "../../../src/model-manifest.ts";

const SIDE = 8;
const canvas = await withCanvas(async (lent) => lent.subarray(0, 3 * SIDE ** 2));

function plain(value: number, side = SIDE): Pixels {
  return { width: side, height: side, data: new Uint8Array(3 * side ** 2).fill(value) };
}

/** The values in a crop of an image's first pixels. */
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
  const face = createSyntheticFace();
  await analyzer.embed(face);
  await analyzer.analyze(face);
  const boxes = [{ x1: 0, y1: 0, x2: 20, y2: 20 }];
  await expect(analyzer.embed(face, { boxes })).rejects.toMatchObject({ kind: "noFaceInBox" });
  const { width, height } = await analyzer.embed(face);
  const end = IMAGES + lengthOfLevels(width, height);
  expect(new Uint8Array(memory.buffer, end).every((byte) => byte === 0)).toBe(true);
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
  const [early, large, another] = [plain(55), plain(66, WHOLE_SIDE), plain(77, WHOLE_SIDE)];
  for (const pixels of [early, large, another]) valuesOf(pixels);
  expect(isInMemory(55)).toBe(false);
  forget(early);
  expect([plain(88, 256), another].map(valuesOf)).toEqual([[88], [77]]);
});
