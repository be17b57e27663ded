import { describe, expect, test } from "vitest";
import { mipLevel } from "../../../src/core/crop/image-pyramid.ts";
import {
  kernels,
  SCRATCH_ADDRESS,
  tensorAddress,
  withInputTensor,
} from "../../../src/core/crop/kernel-memory.ts";
import type { Pixels } from "../../../src/core/geometry.ts";
import { largestDifference, randomFloats } from "../../support/numbers.ts";
import { halveImage, type SamplingGrid, sampleCrop } from "../../support/reference-kernels.ts";

// The kernel computes positions in 32 bits, and rounds weights to 1/8192. Values are 0 to 255.
const TOLERANCE = 0.05;

const inputTensor = await withInputTensor(async (tensor) => tensor);
const images = [createNoise(61, 47, 1), createNoise(8, 9, 2), createNoise(1, 30, 3)];

function createNoise(width: number, height: number, seed: number): Pixels {
  return { width, height, data: Uint8Array.from(randomFloats(3 * width * height, 0, 256, seed)) };
}

/** The pixels of a level of an image's pyramid. */
function levelPixels(image: Pixels, level: number): Pixels {
  const { address, stride, width, height } = mipLevel(image, level);
  const data = new Uint8Array(3 * width * height);
  for (let row = 0; row < height; row++)
    data.set(new Uint8Array(kernels.memory.buffer, address + row * stride, 3 * width), 3 * width * row);
  return { width, height, data };
}

/** Random grids in and around an image, some of them far off. */
function randomGrids({ width, height }: Pixels, count: number): SamplingGrid[] {
  return Array.from({ length: count }, (_, i) => {
    const [x, y, a, b, gap] = randomFloats(5, 0, 1, i) as unknown as [number, number, number, number, number];
    const distance = i % 10 === 9 ? 1e5 : 1;
    return {
      x: distance * width * (2 * x - 0.7),
      y: distance * height * (2 * y - 0.7),
      a: 2 * a + 0.01,
      b: 2 * b - 1,
      gap: [0, gap, 1][i % 3]!,
      side: 4 * (1 + (i % 8)),
    };
  });
}

function runSampleKernel(image: Pixels, { x, y, a, b, gap, side }: SamplingGrid): Float32Array {
  const { address, stride, width, height } = mipLevel(image, 0);
  const tensor = inputTensor.subarray(0, 3 * side * side).fill(Number.NaN);
  const target = [SCRATCH_ADDRESS, tensorAddress(tensor), side, side] as const;
  kernels.sample(address, stride, width, height, x, y, a, b, gap, ...target);
  return tensor.slice();
}

describe.each(images)("on an image of $width by $height pixels", (image) => {
  test("sample agrees with the reference, rotated and not", () => {
    for (const rotated of randomGrids(image, 60))
      for (const grid of [rotated, { ...rotated, b: 0 }])
        expect(largestDifference(runSampleKernel(image, grid), sampleCrop(image, grid))).toBeLessThan(
          TOLERANCE,
        );
  });

  test("halve equals the reference, level by level", () => {
    let expected = image;
    for (let level = 1; expected.width >= 2 && expected.height >= 2; level++) {
      expected = halveImage(expected);
      expect(levelPixels(image, level)).toEqual(expected);
    }
  });
});
