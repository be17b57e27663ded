import type { SimilarityTransform } from "../geometry.ts";
import type { Drawing } from "../networks.ts";
import type { Pixels } from "../types.ts";
import { mirror, type PixelRange, sample } from "./sample.ts";

/** Up to this shrinkage the blend of four neighbours is average enough. */
const SHARP_ENOUGH = 1.05;

/**
 * A square of `side` pixels cut out of an image. `map` takes the crop's coordinates to the image's;
 * outside the image is black. Where the image is shrunk, the area under each pixel is averaged: by
 * halving it down to less than twice, then by two samples a side, which lie along the image's own
 * axes however the crop is turned.
 */
export function crop(image: Pixels, map: SimilarityTransform, side: number, range: PixelRange): Drawing {
  return { images: 1, draw: (planes) => drawCrop(image, map, side, range, planes) };
}

/** The same square, and then mirrored left to right. */
export function cropAndMirrored(
  image: Pixels,
  map: SimilarityTransform,
  side: number,
  range: PixelRange,
): Drawing {
  return {
    images: 2,
    draw: (planes) => {
      const middle = planes.length / 2;
      const first = planes.subarray(0, middle);
      drawCrop(image, map, side, range, first);
      mirror(first, side, planes.subarray(middle));
    },
  };
}

function drawCrop(
  image: Pixels,
  map: SimilarityTransform,
  side: number,
  range: PixelRange,
  planes: Float32Array,
): void {
  const shrink = Math.hypot(map.a, map.b);
  const halvings = halvingsFor(image, shrink);
  const factor = 2 ** -halvings;
  const a = map.a * factor;
  const b = map.b * factor;
  // What is a pixel wide or high cannot be halved, and may be shrunk more than twice.
  const gap = shrink * factor > SHARP_ENOUGH ? Math.min(1, (shrink * factor) / 2) : 0;
  const x = map.dx * factor + (a - b - gap - 1) / 2;
  const y = map.dy * factor + (a + b - gap - 1) / 2;
  sample(image, halvings, { x, y, a, b, gap, side }, range, planes);
}

/** How often an image is halved that is to be shrunk so many times, as far as it goes. */
function halvingsFor({ width, height }: Pixels, shrink: number): number {
  const wanted = Math.floor(Math.log2(Math.max(1, shrink)));
  return Math.min(wanted, Math.floor(Math.log2(Math.min(width, height))));
}
