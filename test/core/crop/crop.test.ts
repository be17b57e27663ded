import { describe, expect, test } from "vitest";
import { crop, cropAndMirror } from "../../../src/core/crop/crop.ts";
import { withInputTensor } from "../../../src/core/crop/kernel-memory.ts";
import { cropTransform, type Pixels, type Square, transformPoint } from "../../../src/core/geometry.ts";
import { MAX_FULL_SIZE_SIDE } from "../../../src/core/image/decode.ts";
import type { TensorWriter } from "../../../src/core/networks.ts";
import { largestDifference, randomFloats } from "../../support/numbers.ts";
import { halveImage, interpolate } from "../../support/reference-kernels.ts";

const inputTensor = await withInputTensor(async (tensor) => tensor);
const squareOf = (side: number) => ({ width: side, height: side });
const RED = [200, 10, 20];
const GREEN = [20, 210, 30];
const BLUE = [30, 40, 220];
const YELLOW = [230, 220, 50];

type Colour = readonly number[];

function createImage(width: number, height: number, colourAt: (x: number, y: number) => Colour): Pixels {
  const colours = Array.from({ length: width * height }, (_, i) =>
    colourAt(i % width, Math.floor(i / width)),
  );
  return { width, height, data: Uint8Array.from(colours.flat()) };
}

function cropSquare(image: Pixels, square: Square, side: number): Float32Array {
  return writtenBy(crop(image, cropTransform(square, side), squareOf(side)), side);
}

/** The crops that a writer writes, over garbage. */
function writtenBy({ batchSize, write }: TensorWriter, side: number): Float32Array {
  const tensor = inputTensor.subarray(0, batchSize * 3 * side * side).fill(Number.NaN);
  write(tensor);
  return tensor.slice();
}

/** Colour of a crop pixel. Negative coordinates count from the right and the bottom. */
function colourAt(planes: Float32Array, side: number, x: number, y: number): number[] {
  const at = ((y + side) % side) * side + ((x + side) % side);
  return [0, 1, 2].map((plane) => planes[plane * side * side + at]!);
}

/** Reference implementation: a crop by its definition, pixel by pixel. */
function referenceCrop(image: Pixels, square: Square, side: number): Float32Array {
  const downscale = square.side / side;
  const halvings = Math.floor(Math.log2(Math.max(1, downscale)));
  const level = Array.from({ length: halvings }).reduce<Pixels>(halveImage, image);
  const scale = 2 ** -halvings;
  const offsets = downscale * scale > 1.05 ? [-0.25, 0.25].map((at) => at * downscale * scale) : [0];
  const planes = new Float32Array(3 * side * side);
  for (let row = 0; row < side; row++)
    for (let column = 0; column < side; column++) {
      const { x, y } = transformPoint(cropTransform(square, side), { x: column + 0.5, y: row + 0.5 });
      for (const down of offsets)
        for (const right of offsets)
          for (let channel = 0; channel < 3; channel++)
            planes[(channel * side + row) * side + column]! +=
              interpolate(level, x * scale + right - 0.5, y * scale + down - 0.5, channel) /
              offsets.length ** 2;
    }
  return planes;
}

function wholeSquare({ width, height }: Pixels): Square {
  return { center: { x: width / 2, y: height / 2 }, side: Math.max(width, height), radians: 0 };
}

/** A black and white chessboard. */
function createChessboard(side: number, field: number): Pixels {
  return createImage(side, side, (x, y) =>
    (Math.floor(x / field) + Math.floor(y / field)) % 2 === 0 ? [255, 255, 255] : [0, 0, 0],
  );
}

const GREY = 127.5;
const noise = createImage(32, 32, (x, y) => [...randomFloats(3, 0, 256, 32 * y + x)]);
const oddNoise = createImage(31, 29, (x, y) => [...randomFloats(3, 0, 256, 29 * x + y)]);
const quarters = createImage(64, 64, (x, y) => (y < 32 ? (x < 32 ? RED : GREEN) : x < 32 ? BLUE : YELLOW));

describe("a crop", () => {
  test("at the same scale copies every pixel, plane by plane", () => {
    const planes = cropSquare(noise, wholeSquare(noise), 32);
    const expected = [0, 1, 2].flatMap((channel) =>
      Array.from({ length: 32 * 32 }, (_, i) => noise.data[3 * i + channel]!),
    );
    expect([...planes]).toEqual(expected);
  });

  test("shifted by whole pixels copies every pixel", () => {
    const planes = cropSquare(noise, { center: { x: 12, y: 9 }, side: 8, radians: 0 }, 8);
    for (let y = 0; y < 8; y++)
      for (let x = 0; x < 8; x++) {
        const at = 3 * ((y + 5) * 32 + x + 8);
        expect(colourAt(planes, 8, x, y)).toEqual([...noise.data.subarray(at, at + 3)]);
      }
  });

  test("between pixels interpolates", () => {
    const step = createImage(4, 4, (x) => (x < 2 ? [0, 0, 0] : [100, 100, 100]));
    const planes = cropSquare(step, { center: { x: 2.25, y: 2 }, side: 4, radians: 0 }, 4);
    expect(colourAt(planes, 4, 1, 1)[0]).toBeCloseTo(25, 5);
    expect(colourAt(planes, 4, 2, 1)[0]).toBeCloseTo(100, 5);
  });

  test.each([
    [2, 1],
    [3, 1],
    [4, 2],
    [8, 1],
    [11, 4],
    [16, 8],
  ])(
    "downscaled %i times averages the area under each pixel: chessboard fields of %i pixels",
    (downscale, field) => {
      const board = createChessboard(12 * downscale, field);
      const planes = cropSquare(board, { ...wholeSquare(board), side: 8 * downscale }, 8);
      for (const value of planes) expect(Math.abs(value - GREY)).toBeLessThan(2);
    },
  );

  // The fields are as large as the pixels of the mip level, so only the samples can average them.
  test.each([
    [3, 2],
    [6, 4],
    [12, 8],
  ])(
    "downscaled %i times averages between two mip levels too: chessboard fields of %i pixels",
    (downscale, field) => {
      const board = createChessboard(12 * downscale, field);
      const planes = cropSquare(board, { ...wholeSquare(board), side: 8 * downscale }, 8);
      for (const value of planes) expect(Math.abs(value - GREY)).toBeLessThan(20);
    },
  );

  test.each([2, 4, 16])("downscaled %i times shifts nothing", (downscale) => {
    const half = createImage(16 * downscale, 16 * downscale, (x) => (x < 8 * downscale ? RED : BLUE));
    const planes = cropSquare(half, wholeSquare(half), 16);
    expect(colourAt(planes, 16, 6, 8)).toEqual(RED);
    expect(colourAt(planes, 16, 9, 8)).toEqual(BLUE);
  });

  test("is black outside the image", () => {
    const planes = cropSquare(quarters, { center: { x: 0, y: 0 }, side: 64, radians: 0 }, 64);
    expect(colourAt(planes, 64, 0, 0)).toEqual([0, 0, 0]);
    expect(colourAt(planes, 64, -1, 0)).toEqual([0, 0, 0]);
    expect(colourAt(planes, 64, 0, -1)).toEqual([0, 0, 0]);
    expect(colourAt(planes, 64, 32, 32)).toEqual(RED);
    const between = cropSquare(quarters, { center: { x: 31.5, y: 32 }, side: 64, radians: 0 }, 64);
    expect(colourAt(between, 64, 0, 5)).toEqual(RED.map((value) => value / 2));
    for (const radians of [0, 1]) {
      const far = cropSquare(quarters, { center: { x: 1e6, y: -1e6 }, side: 10, radians }, 16);
      expect(far.every((value) => value === 0)).toBe(true);
    }
  });

  test("rotated clockwise by 90 degrees has the right side of the image on top", () => {
    const planes = cropSquare(quarters, { ...wholeSquare(quarters), radians: Math.PI / 2 }, 64);
    const corners = [
      [0, 0],
      [-1, 0],
      [0, -1],
      [-1, -1],
    ].map(([x, y]) => colourAt(planes, 64, x!, y!).map(Math.round));
    expect(corners).toEqual([GREEN, YELLOW, RED, BLUE]);
  });

  test.each([
    ["copied", { center: { x: 17, y: 14 }, side: 16, radians: 0 }],
    ["enlarged", { center: { x: 15, y: 17 }, side: 10, radians: 0.4 }],
    ["downscaled a little", { center: { x: 15.3, y: 17.6 }, side: 21, radians: 0 }],
    ["downscaled and rotated", { center: { x: 15.3, y: 17.6 }, side: 26.4, radians: -2 }],
    ["upright over two edges", { center: { x: 3, y: 30 }, side: 29, radians: 0 }],
    ["upright over the other edges", { center: { x: 30, y: 2 }, side: 19, radians: 0 }],
    ["rotated over two edges", { center: { x: 3, y: 30 }, side: 29, radians: 0.1 }],
    ["upright and larger than the image", { center: { x: 20, y: 10 }, side: 75, radians: 0 }],
    ["rotated and larger than the image", { center: { x: 20, y: 10 }, side: 60, radians: 1 }],
    ["much larger than the image", { center: { x: 0, y: 40 }, side: 250, radians: 3 }],
  ])("%s agrees with the reference", (_, square) => {
    for (const image of [noise, oddNoise])
      expect(largestDifference(cropSquare(image, square, 16), referenceCrop(image, square, 16))).toBeLessThan(
        0.05,
      );
  });

  test("upside down, without rounding errors, has the last pixel first", () => {
    const planes = writtenBy(crop(noise, { a: -1, b: 0, dx: 32, dy: 32 }, squareOf(32)), 32);
    expect(colourAt(planes, 32, 0, 0)).toEqual([...noise.data.subarray(-3)]);
    expect(colourAt(planes, 32, -1, -1)).toEqual([...noise.data.subarray(0, 3)]);
  });

  test("rotated by 45 degrees has the corners of the image on its sides", () => {
    const planes = cropSquare(quarters, { ...wholeSquare(quarters), side: 32, radians: Math.PI / 4 }, 32);
    const sides = [
      [16, 1],
      [30, 16],
      [16, 30],
      [1, 16],
    ].map(([x, y]) => colourAt(planes, 32, x!, y!).map(Math.round));
    expect(sides).toEqual([GREEN, YELLOW, BLUE, RED]);
  });

  test.each([
    [1, 1],
    [3000, 2],
    [20_000, 2],
    [2, 3000],
    [3, 5],
  ])("of an image of %i by %i pixels has only valid values", (width, height) => {
    const odd = createImage(width, height, () => RED);
    const planes = cropSquare(odd, wholeSquare(odd), 16);
    expect(planes.every((value) => value >= 0 && value <= 255)).toBe(true);
  });
});

test("the mirror image of a crop equals the crop of the mirrored image", () => {
  const mirrored = createImage(32, 32, (x, y) => {
    const at = 3 * (y * 32 + 31 - x);
    return [...noise.data.subarray(at, at + 3)];
  });
  const both = writtenBy(cropAndMirror(noise, cropTransform(wholeSquare(noise), 32), squareOf(32)), 32);
  expect(both.subarray(0, both.length / 2)).toEqual(cropSquare(noise, wholeSquare(noise), 32));
  expect(both.subarray(both.length / 2)).toEqual(cropSquare(mirrored, wholeSquare(mirrored), 32));
});

test("a crop may be wider than it is high", () => {
  const wide = writtenBy(crop(noise, { a: 1, b: 0, dx: 0, dy: 0 }, { width: 32, height: 20 }), 32);
  const whole = cropSquare(noise, wholeSquare(noise), 32);
  for (let plane = 0; plane < 3; plane++)
    expect(wide.subarray(plane * 640, (plane + 1) * 640)).toEqual(
      whole.subarray(plane * 1024, plane * 1024 + 640),
    );
});

test("a crop can only be written into the input tensor", () => {
  const { write } = crop(noise, cropTransform(wholeSquare(noise), 32), squareOf(32));
  expect(() => write(new Float32Array(3 * 32 * 32))).toThrow("not part of the input tensor");
});

test("the largest image that is decoded can be cropped", () => {
  const largest = {
    width: MAX_FULL_SIZE_SIDE,
    height: MAX_FULL_SIZE_SIDE,
    data: new Uint8Array(3 * MAX_FULL_SIZE_SIDE ** 2).fill(7),
  };
  expect(cropSquare(largest, wholeSquare(largest), 32)).toEqual(new Float32Array(3 * 32 * 32).fill(7));
});

test.each([1028, 30])("a crop of %i pixels is rejected", (side) => {
  const { write } = crop(noise, cropTransform(wholeSquare(noise), side), squareOf(side));
  expect(() => write(inputTensor)).toThrow(`A crop cannot have ${side} by ${side} pixels.`);
});

test("a crop without room in the tensor is rejected", () => {
  const { write } = crop(noise, cropTransform(wholeSquare(noise), 32), squareOf(32));
  expect(() => write(inputTensor.subarray(0, 3 * 32 * 32 - 1))).toThrow("The batch is too large.");
});
