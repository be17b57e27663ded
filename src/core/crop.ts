import type { Similarity } from "./geometry.ts";
import type { PixelRange } from "./sample-grid.ts";
import { sampleTurned } from "./sample-turned.ts";
import { sampleUpright } from "./sample-upright.ts";
import type { Pixels } from "./types.ts";

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

/** Up to this shrinkage the blend of four neighbours is average enough. */
const SHARP_ENOUGH = 1.05;

/**
 * Cuts a square of `side` pixels out of an image as three planes of floats. `map` takes the
 * crop's coordinates to the image's; outside the image is black. Where the image is shrunk, the
 * area under each pixel is averaged: by the pyramid down to less than twice, then by two samples a
 * side, which lie along the image's own axes however the crop is turned.
 */
export function crop(image: Pyramid, map: Similarity, side: number, range: PixelRange): Float32Array {
  const shrink = Math.hypot(map.a, map.b);
  const { pixels, factor } = image.for(shrink);
  const a = map.a * factor;
  const b = map.b * factor;
  const gap = shrink * factor > SHARP_ENOUGH ? (shrink * factor) / 2 : 0;
  const x = map.dx * factor + (a - b - gap - 1) / 2;
  const y = map.dy * factor + (a + b - gap - 1) / 2;
  const planes = new Float32Array(3 * side * side).fill(range.offset);
  const grid = { x, y, a, b, gap, side };
  if (b === 0) sampleUpright(pixels, grid, range, planes);
  else sampleTurned(pixels, grid, range, planes);
  return planes;
}

/** The three planes of a crop mirrored left to right. */
export function mirrorPlanes(planes: Float32Array, side: number): Float32Array {
  const mirrored = planes.slice();
  for (let row = 0; row < planes.length; row += side) mirrored.subarray(row, row + side).reverse();
  return mirrored;
}

function halve({ width, height, data }: Pixels): Pixels {
  const halfWidth = width >> 1;
  const halfHeight = height >> 1;
  const half = new Uint8Array(halfWidth * halfHeight * 3);
  const below = width * 3;
  for (let row = 0, to = 0; row < halfHeight; row++)
    for (let column = 0, i = row * 2 * below; column < halfWidth; column++, i += 6, to += 3) {
      const j = i + below;
      half[to] = (data[i]! + data[i + 3]! + data[j]! + data[j + 3]! + 2) >> 2;
      half[to + 1] = (data[i + 1]! + data[i + 4]! + data[j + 1]! + data[j + 4]! + 2) >> 2;
      half[to + 2] = (data[i + 2]! + data[i + 5]! + data[j + 2]! + data[j + 5]! + 2) >> 2;
    }
  return { width: halfWidth, height: halfHeight, data: half };
}
