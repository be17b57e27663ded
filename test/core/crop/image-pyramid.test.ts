import { expect, test } from "vitest";
import { mipLevel } from "../../../src/core/crop/image-pyramid.ts";
import { kernels } from "../../../src/core/crop/kernel-memory.ts";
import type { Pixels } from "../../../src/core/geometry.ts";
import { MAX_FULL_SIZE_SIDE } from "../../../src/core/image/decode.ts";

function createImage(value: number, side = 8): Pixels {
  return { width: side, height: side, data: new Uint8Array(3 * side ** 2).fill(value) };
}

/** The value of the first pixel of an image's pyramid. */
function firstValue(image: Pixels): number {
  return new Uint8Array(kernels.memory.buffer)[mipLevel(image, 0).address]!;
}

test("images can be used in turns", () => {
  const [one, two] = [createImage(11), createImage(22)];
  expect([one, two, two, one].map(firstValue)).toEqual([11, 22, 22, 11]);
});

test("the largest decoded image fits", () => {
  expect(firstValue(createImage(33, MAX_FULL_SIZE_SIDE))).toBe(33);
});

test("an image larger than any that is decoded is rejected", () => {
  expect(() => mipLevel(createImage(1, 1.25 * MAX_FULL_SIZE_SIDE), 0)).toThrow("too large");
});

test("each level has half the size and black padding", () => {
  const image = { width: 13, height: 6, data: new Uint8Array(3 * 13 * 6).fill(255) };
  const sizes = [0, 1, 2].map((level) => mipLevel(image, level)).map(({ width, height }) => [width, height]);
  expect(sizes).toEqual([
    [13, 6],
    [6, 3],
    [3, 1],
  ]);
  for (const level of [0, 1, 2]) {
    const { address, stride, width, height } = mipLevel(image, level);
    const bytes = new Uint8Array(kernels.memory.buffer);
    for (let row = -3; row < height + 3; row++)
      for (let at = -9; at < 3 * (width + 3); at++) {
        const isInside = row >= 0 && row < height && at >= 0 && at < 3 * width;
        expect(bytes[address + row * stride + at]).toBe(isInside ? 255 : 0);
      }
  }
});
