import { describe, expect, test } from "vitest";
import { crop, cropAndMirrored } from "../../../src/core/crop/crop.ts";
import { withCanvas } from "../../../src/core/crop/drawing-memory.ts";
import { cropTransform, type Square, transformPoint } from "../../../src/core/geometry.ts";
import { WHOLE_SIDE } from "../../../src/core/image/decode.ts";
import type { Drawing } from "../../../src/core/networks.ts";
import type { Pixels } from "../../../src/core/types.ts";
import { largestDifference, randomFloats } from "../../support/numbers.ts";

const canvas = await withCanvas(async (lent) => lent);
const PLAIN = { scale: 1, offset: 0 };
const RED = [200, 10, 20];
const GREEN = [20, 210, 30];
const BLUE = [30, 40, 220];
const YELLOW = [230, 220, 50];

type Colour = readonly number[];

function paint(width: number, height: number, colourAt: (x: number, y: number) => Colour): Pixels {
  const colours = Array.from({ length: width * height }, (_, i) =>
    colourAt(i % width, Math.floor(i / width)),
  );
  return { width, height, data: Uint8Array.from(colours.flat()) };
}

function cut(pixels: Pixels, square: Square, side: number): Float32Array {
  return drawn(crop(pixels, cropTransform(square, side), side, PLAIN), side);
}

/** What a drawing makes, in memory that was used before. */
function drawn({ images, draw }: Drawing, side: number): Float32Array {
  const planes = canvas.subarray(0, images * 3 * side * side).fill(Number.NaN);
  draw(planes);
  return planes.slice();
}

/** Colour of a crop's pixel; negative places count from the right and the bottom. */
function colourAt(planes: Float32Array, side: number, x: number, y: number): number[] {
  const at = ((y + side) % side) * side + ((x + side) % side);
  return [0, 1, 2].map((plane) => planes[plane * side * side + at]!);
}

/** A crop as its definition says, pixel by pixel. */
function plainCrop(pixels: Pixels, square: Square, side: number): Float32Array {
  const shrink = square.side / side;
  const halvings = Math.floor(Math.log2(Math.max(1, shrink)));
  const image = Array.from({ length: halvings }).reduce(plainHalf, pixels);
  const scale = 2 ** -halvings;
  const samples = shrink * scale > 1.05 ? [-0.25, 0.25].map((at) => at * shrink * scale) : [0];
  const planes = new Float32Array(3 * side * side);
  for (let row = 0; row < side; row++)
    for (let column = 0; column < side; column++) {
      const { x, y } = transformPoint(cropTransform(square, side), { x: column + 0.5, y: row + 0.5 });
      for (const down of samples)
        for (const right of samples)
          for (let channel = 0; channel < 3; channel++)
            planes[(channel * side + row) * side + column]! +=
              blendAt(image, x * scale + right - 0.5, y * scale + down - 0.5, channel) / samples.length ** 2;
    }
  return planes;
}

function blendAt(image: Pixels, x: number, y: number, channel: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const [right, down] = [x - left, y - top];
  return (
    valueAt(image, left, top, channel) * (1 - right) * (1 - down) +
    valueAt(image, left + 1, top, channel) * right * (1 - down) +
    valueAt(image, left, top + 1, channel) * (1 - right) * down +
    valueAt(image, left + 1, top + 1, channel) * right * down
  );
}

function valueAt({ width, height, data }: Pixels, x: number, y: number, channel: number): number {
  return x < 0 || y < 0 || x >= width || y >= height ? 0 : data[3 * (y * width + x) + channel]!;
}

function plainHalf(image: Pixels): Pixels {
  return paint(image.width >> 1, image.height >> 1, (x, y) =>
    [0, 1, 2].map((channel) => {
      const four = [0, 1].flatMap((down) =>
        [0, 1].map((right) => valueAt(image, 2 * x + right, 2 * y + down, channel)),
      );
      return Math.floor((four.reduce((sum, value) => sum + value) + 2) / 4);
    }),
  );
}

function whole({ width, height }: Pixels): Square {
  return { center: { x: width / 2, y: height / 2 }, side: Math.max(width, height), radians: 0 };
}

/** A chessboard of black and white fields. */
function boardOf(side: number, field: number): Pixels {
  return paint(side, side, (x, y) =>
    (Math.floor(x / field) + Math.floor(y / field)) % 2 === 0 ? [255, 255, 255] : [0, 0, 0],
  );
}

const GREY = 127.5;
const noise = paint(32, 32, (x, y) => [...randomFloats(3, 0, 256, 32 * y + x)]);
const oddNoise = paint(31, 29, (x, y) => [...randomFloats(3, 0, 256, 29 * x + y)]);
const quarters = paint(64, 64, (x, y) => (y < 32 ? (x < 32 ? RED : GREEN) : x < 32 ? BLUE : YELLOW));

describe("a crop", () => {
  test("of the same size copies every pixel, plane by plane", () => {
    const planes = cut(noise, whole(noise), 32);
    const expected = [0, 1, 2].flatMap((channel) =>
      Array.from({ length: 32 * 32 }, (_, i) => noise.data[3 * i + channel]!),
    );
    expect([...planes]).toEqual(expected);
  });

  test("shifted by whole pixels copies them too", () => {
    const planes = cut(noise, { center: { x: 12, y: 9 }, side: 8, radians: 0 }, 8);
    for (let y = 0; y < 8; y++)
      for (let x = 0; x < 8; x++) {
        const at = 3 * ((y + 5) * 32 + x + 8);
        expect(colourAt(planes, 8, x, y)).toEqual([...noise.data.subarray(at, at + 3)]);
      }
  });

  test("puts its values into the range asked for", () => {
    const range = { scale: 1 / 127.5, offset: -1 };
    const planes = drawn(crop(quarters, cropTransform(whole(quarters), 64), 64, range), 64);
    const [red] = colourAt(planes, 64, 0, 0);
    expect(red).toBeCloseTo(RED[0]! / 127.5 - 1, 6);
  });

  test("between pixels blends them", () => {
    const step = paint(4, 4, (x) => (x < 2 ? [0, 0, 0] : [100, 100, 100]));
    const planes = cut(step, { center: { x: 2.25, y: 2 }, side: 4, radians: 0 }, 4);
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
  ])("shrunk %i times averages the area under each pixel: fields of %i", (shrink, field) => {
    const board = boardOf(12 * shrink, field);
    const planes = cut(board, { ...whole(board), side: 8 * shrink }, 8);
    for (const value of planes) expect(Math.abs(value - GREY)).toBeLessThan(2);
  });

  // Fields as large as the halved pixels, so that only the samples can average them.
  test.each([
    [3, 2],
    [6, 4],
    [12, 8],
  ])("shrunk %i times averages between two halvings too: fields of %i", (shrink, field) => {
    const board = boardOf(12 * shrink, field);
    const planes = cut(board, { ...whole(board), side: 8 * shrink }, 8);
    for (const value of planes) expect(Math.abs(value - GREY)).toBeLessThan(20);
  });

  test.each([2, 4, 16])("shrunk %i times keeps things in their place", (shrink) => {
    const half = paint(16 * shrink, 16 * shrink, (x) => (x < 8 * shrink ? RED : BLUE));
    const planes = cut(half, whole(half), 16);
    expect(colourAt(planes, 16, 6, 8)).toEqual(RED);
    expect(colourAt(planes, 16, 9, 8)).toEqual(BLUE);
  });

  test("is black outside the image", () => {
    const planes = cut(quarters, { center: { x: 0, y: 0 }, side: 64, radians: 0 }, 64);
    expect(colourAt(planes, 64, 0, 0)).toEqual([0, 0, 0]);
    expect(colourAt(planes, 64, -1, 0)).toEqual([0, 0, 0]);
    expect(colourAt(planes, 64, 0, -1)).toEqual([0, 0, 0]);
    expect(colourAt(planes, 64, 32, 32)).toEqual(RED);
    const between = cut(quarters, { center: { x: 31.5, y: 32 }, side: 64, radians: 0 }, 64);
    expect(colourAt(between, 64, 0, 5)).toEqual(RED.map((value) => value / 2));
    for (const radians of [0, 1]) {
      const far = cut(quarters, { center: { x: 1e6, y: -1e6 }, side: 10, radians }, 16);
      expect(far.every((value) => value === 0)).toBe(true);
    }
  });

  test("turned by a quarter clockwise sees what was at the right on top", () => {
    const planes = cut(quarters, { ...whole(quarters), radians: Math.PI / 2 }, 64);
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
    ["shrunk a little", { center: { x: 15.3, y: 17.6 }, side: 21, radians: 0 }],
    ["shrunk and turned", { center: { x: 15.3, y: 17.6 }, side: 26.4, radians: -2 }],
    ["straight over two edges", { center: { x: 3, y: 30 }, side: 29, radians: 0 }],
    ["straight over the others", { center: { x: 30, y: 2 }, side: 19, radians: 0 }],
    ["over two edges", { center: { x: 3, y: 30 }, side: 29, radians: 0.1 }],
    ["straight and larger than the image", { center: { x: 20, y: 10 }, side: 75, radians: 0 }],
    ["larger than the image", { center: { x: 20, y: 10 }, side: 60, radians: 1 }],
    ["much larger than the image", { center: { x: 0, y: 40 }, side: 250, radians: 3 }],
  ])("%s is the mean of its samples", (_, square) => {
    for (const image of [noise, oddNoise])
      expect(largestDifference(cut(image, square, 16), plainCrop(image, square, 16))).toBeLessThan(0.05);
  });

  test("upside down, with nothing added by rounding, shows the last pixel first", () => {
    const planes = drawn(crop(noise, { a: -1, b: 0, dx: 32, dy: 32 }, 32, PLAIN), 32);
    expect(colourAt(planes, 32, 0, 0)).toEqual([...noise.data.subarray(-3)]);
    expect(colourAt(planes, 32, -1, -1)).toEqual([...noise.data.subarray(0, 3)]);
  });

  test("turned by an eighth has the corners of the image on its sides", () => {
    const planes = cut(quarters, { ...whole(quarters), side: 32, radians: Math.PI / 4 }, 32);
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
  ])("of %i by %i pixels is made of numbers", (width, height) => {
    const odd = paint(width, height, () => RED);
    const planes = cut(odd, whole(odd), 16);
    expect(planes.every((value) => value >= 0 && value <= 255)).toBe(true);
  });
});

test("a crop and its mirror image are those of the image and of the mirrored image", () => {
  const mirrored = paint(32, 32, (x, y) => {
    const at = 3 * (y * 32 + 31 - x);
    return [...noise.data.subarray(at, at + 3)];
  });
  const both = drawn(cropAndMirrored(noise, cropTransform(whole(noise), 32), 32, PLAIN), 32);
  expect(both.subarray(0, both.length / 2)).toEqual(cut(noise, whole(noise), 32));
  expect(both.subarray(both.length / 2)).toEqual(cut(mirrored, whole(mirrored), 32));
});

test("a crop is drawn on the canvas or not at all", () => {
  const { draw } = crop(noise, cropTransform(whole(noise), 32), 32, PLAIN);
  expect(() => draw(new Float32Array(3 * 32 * 32))).toThrow("not on the canvas");
});

test("an image as large as any that is decoded has room, a larger one is refused", () => {
  const largest = {
    width: WHOLE_SIDE,
    height: WHOLE_SIDE,
    data: new Uint8Array(3 * WHOLE_SIDE ** 2).fill(7),
  };
  expect(cut(largest, whole(largest), 32)).toEqual(new Float32Array(3 * 32 * 32).fill(7));

  const side = 1.25 * WHOLE_SIDE;
  const large = { width: side, height: side, data: new Uint8Array(3 * side ** 2) };
  expect(() => cut(large, whole(large), 32)).toThrow("too large");
});
