import type { Similarity } from "./geometry.ts";
import type { Pixels } from "./types.ts";

/** How a network wants its pixels: value times scale plus offset. */
export interface PixelRange {
  readonly scale: number;
  readonly offset: number;
}

/** Pixels at full size and halved again and again, made when first asked for. */
export class Pyramid {
  private readonly levels: Pixels[];

  constructor(base: Pixels) {
    this.levels = [base];
  }

  /** Width and height at full size. */
  get size(): { readonly width: number; readonly height: number } {
    return this.levels[0]!;
  }

  /** The pixels halved as often as an image that is to be shrunk `shrink` times allows, and their size to the full one. */
  for(shrink: number): { readonly pixels: Pixels; readonly factor: number } {
    let level = 0;
    for (let factor = 2; factor <= shrink; factor *= 2) {
      const { width, height } = this.levels[level]!;
      if (width < 2 || height < 2) break;
      level++;
      this.levels[level] ??= halve(this.levels[level - 1]!);
    }
    return { pixels: this.levels[level]!, factor: 2 ** -level };
  }
}

/**
 * Cuts a square of `side` pixels out of an image as three planes of floats. `map` takes the
 * crop's coordinates to the image's; outside the image is black. Where the image is shrunk, the
 * area under each pixel is averaged: by the pyramid down to less than twice, then by four samples.
 */
export function crop(image: Pyramid, map: Similarity, side: number, range: PixelRange): Float32Array {
  const shrink = Math.hypot(map.a, map.b);
  const { pixels, factor } = image.for(shrink);
  // Two samples a side: the crop is sampled at twice its size, and each four samples make a pixel.
  const samples = shrink * factor > SHARP_ENOUGH ? 2 : 1;
  const step = factor / samples;
  const grid = {
    a: map.a * step,
    b: map.b * step,
    dx: map.dx * factor - 0.5,
    dy: map.dy * factor - 0.5,
  };
  const plane = side * side;
  const planes = new Float32Array(3 * plane);
  const line = new Float64Array(3 * side);
  const scale = range.scale / (samples * samples);
  for (let row = 0; row < side; row++) {
    line.fill(0);
    for (let sample = 0; sample < samples; sample++)
      addLine(pixels, grid, row * samples + sample + 0.5, side, samples, line);
    for (let column = 0, at = row * side; column < side; column++, at++) {
      planes[at] = line[column * 3]! * scale + range.offset;
      planes[at + plane] = line[column * 3 + 1]! * scale + range.offset;
      planes[at + 2 * plane] = line[column * 3 + 2]! * scale + range.offset;
    }
  }
  return planes;
}

/** Adds one line of samples, each blended from the four pixels around it; pixels outside the image are black. */
function addLine(
  { width, height, data }: Pixels,
  { a, b, dx, dy }: Similarity,
  v: number,
  side: number,
  samples: number,
  line: Float64Array,
): void {
  const below = width * 3;
  let x = a * 0.5 - b * v + dx;
  let y = b * 0.5 + a * v + dy;
  for (let column = 0, to = 0; column < side; column++, to += 3)
    for (let sample = 0; sample < samples; sample++, x += a, y += b) {
      const left = Math.floor(x) | 0;
      const top = Math.floor(y) | 0;
      if (left < -1 || top < -1 || left >= width || top >= height) continue;
      const right = x - left;
      const bottom = y - top;
      const from = (top * width + left) * 3;
      if (left >= 0 && top >= 0 && left + 1 < width && top + 1 < height) {
        const topLeft = (1 - right) * (1 - bottom);
        const topRight = right * (1 - bottom);
        const bottomLeft = (1 - right) * bottom;
        const bottomRight = right * bottom;
        const under = from + below;
        line[to]! +=
          data[from]! * topLeft +
          data[from + 3]! * topRight +
          data[under]! * bottomLeft +
          data[under + 3]! * bottomRight;
        line[to + 1]! +=
          data[from + 1]! * topLeft +
          data[from + 4]! * topRight +
          data[under + 1]! * bottomLeft +
          data[under + 4]! * bottomRight;
        line[to + 2]! +=
          data[from + 2]! * topLeft +
          data[from + 5]! * topRight +
          data[under + 2]! * bottomLeft +
          data[under + 5]! * bottomRight;
      } else {
        for (let channel = 0; channel < 3; channel++) {
          const at = from + channel;
          if (left >= 0 && top >= 0) line[to + channel]! += data[at]! * (1 - right) * (1 - bottom);
          if (left + 1 < width && top >= 0) line[to + channel]! += data[at + 3]! * right * (1 - bottom);
          if (left >= 0 && top + 1 < height) line[to + channel]! += data[at + below]! * (1 - right) * bottom;
          if (left + 1 < width && top + 1 < height)
            line[to + channel]! += data[at + below + 3]! * right * bottom;
        }
      }
    }
}

/** The three planes of a crop mirrored left to right. */
export function mirrorPlanes(planes: Float32Array, side: number): Float32Array {
  const mirrored = new Float32Array(planes.length);
  for (let row = 0; row < planes.length; row += side)
    for (let column = 0; column < side; column++) mirrored[row + column] = planes[row + side - 1 - column]!;
  return mirrored;
}

/** Up to this shrinkage the blend of four neighbours is average enough. */
const SHARP_ENOUGH = 1.05;

function halve({ width, height, data }: Pixels): Pixels {
  const halfWidth = width >> 1;
  const halfHeight = height >> 1;
  const half = new Uint8Array(halfWidth * halfHeight * 3);
  const stride = width * 3;
  let to = 0;
  for (let row = 0; row < halfHeight; row++)
    for (let column = 0, from = row * 2 * stride; column < halfWidth; column++, from += 6)
      for (let channel = 0; channel < 3; channel++, to++) {
        const at = from + channel;
        half[to] = (data[at]! + data[at + 3]! + data[at + stride]! + data[at + stride + 3]! + 2) >> 2;
      }
  return { width: halfWidth, height: halfHeight, data: half };
}
