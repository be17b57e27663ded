// Plain TypeScript versions of the WebAssembly kernels, to compare them with.
import type { Pixels } from "../../src/core/geometry.ts";

/** Where and how a crop samples an image; the parameters of `sample` in src/core/crop/kernels.wasm.d.ts. */
export interface SamplingGrid {
  readonly x: number;
  readonly y: number;
  readonly a: number;
  readonly b: number;
  readonly gap: number;
  readonly side: number;
}

/** Three planes of a crop whose pixels are the mean of two by two samples. */
export function sampleCrop(image: Pixels, { x, y, a, b, gap, side }: SamplingGrid): Float32Array {
  const planes = new Float32Array(3 * side * side);
  for (let row = 0; row < side; row++)
    for (let column = 0; column < side; column++) {
      const left = x + a * column - b * row;
      const top = y + b * column + a * row;
      for (let channel = 0; channel < 3; channel++) {
        const samples = [top, top + gap].flatMap((sampleY) =>
          [left, left + gap].map((sampleX) => interpolate(image, sampleX, sampleY, channel)),
        );
        planes[(channel * side + row) * side + column] = mean(samples);
      }
    }
  return planes;
}

/** Bilinear interpolation. Pixels have their centres at integers, and are black outside the image. */
export function interpolate(image: Pixels, x: number, y: number, channel: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const [right, down] = [x - left, y - top];
  return (
    valueAt(image, left, top, channel) * (1 - right) * (1 - down) +
    valueAt(image, left + 1, top, channel) * right * (1 - down) +
    valueAt(image, left, top + 1, channel) * (1 - right) * down +
    valueAt(image, left + 1, top + 1, channel) * right * down
  );
}

/** The image at half its size: rounded means of two by two pixels. */
export function halveImage(image: Pixels): Pixels {
  const [width, height] = [image.width >> 1, image.height >> 1];
  const data = Uint8Array.from({ length: 3 * width * height }, (_, i) => {
    const channel = i % 3;
    const x = 2 * (Math.floor(i / 3) % width);
    const y = 2 * Math.floor(i / 3 / width);
    const four = [y, y + 1].flatMap((row) =>
      [x, x + 1].map((column) => valueAt(image, column, row, channel)),
    );
    return Math.floor(mean(four) + 0.5);
  });
  return { width, height, data };
}

/** Squared distance in 32-bit floats, added up in the order of the kernel: four lanes first, then their sum. */
export function squaredDistance32(one: Float32Array, other: Float32Array): number {
  const lanes = new Float32Array(4);
  one.forEach((value, i) => {
    const difference = Math.fround(value - other[i]!);
    lanes[i % 4]! += Math.fround(difference * difference);
  });
  return lanes.reduce((sum, lane) => Math.fround(sum + lane));
}

function valueAt({ width, height, data }: Pixels, x: number, y: number, channel: number): number {
  return x < 0 || y < 0 || x >= width || y >= height ? 0 : data[3 * (y * width + x) + channel]!;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value) / values.length;
}
