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
  const a = map.a * factor;
  const b = map.b * factor;
  const dx = map.dx * factor - 0.5;
  const dy = map.dy * factor - 0.5;
  const taps = shrink * factor > SHARP_ENOUGH ? FOUR_TAPS : ONE_TAP;
  const planes = new Float32Array(3 * side * side);
  const sum: Sum = { red: 0, green: 0, blue: 0 };
  const scale = range.scale / taps.length;
  for (let row = 0, at = 0; row < side; row++)
    for (let column = 0; column < side; column++, at++) {
      sum.red = sum.green = sum.blue = 0;
      for (const tap of taps) {
        const u = column + tap.x;
        const v = row + tap.y;
        addSample(sum, pixels, a * u - b * v + dx, b * u + a * v + dy);
      }
      planes[at] = sum.red * scale + range.offset;
      planes[at + side * side] = sum.green * scale + range.offset;
      planes[at + 2 * side * side] = sum.blue * scale + range.offset;
    }
  return planes;
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
const ONE_TAP = [{ x: 0.5, y: 0.5 }];
const FOUR_TAPS = [0.25, 0.75].flatMap((y) => [0.25, 0.75].map((x) => ({ x, y })));

interface Sum {
  red: number;
  green: number;
  blue: number;
}

/** Adds the pixel at a place between pixels, blended from its four neighbours. */
function addSample(sum: Sum, { width, height, data }: Pixels, x: number, y: number): void {
  const left = Math.floor(x);
  const top = Math.floor(y);
  if (left < -1 || top < -1 || left >= width || top >= height) return;
  const right = x - left;
  const below = y - top;
  addPixel(sum, data, width, height, left, top, (1 - right) * (1 - below));
  addPixel(sum, data, width, height, left + 1, top, right * (1 - below));
  addPixel(sum, data, width, height, left, top + 1, (1 - right) * below);
  addPixel(sum, data, width, height, left + 1, top + 1, right * below);
}

function addPixel(
  sum: Sum,
  data: Uint8Array,
  width: number,
  height: number,
  x: number,
  y: number,
  weight: number,
): void {
  if (x < 0 || y < 0 || x >= width || y >= height) return;
  const at = (y * width + x) * 3;
  sum.red += data[at]! * weight;
  sum.green += data[at + 1]! * weight;
  sum.blue += data[at + 2]! * weight;
}

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
