import { ALL_WEIGHTS, firstWeight, type Grid, type PixelRange, thirdWeight } from "./sample-grid.ts";
import type { Pixels } from "./types.ts";

/** Fills the planes of a crop that may be turned; what lies outside the image keeps its value where no sample reaches. */
export function sampleTurned(
  pixels: Pixels,
  { x: startX, y: startY, a, b, gap, side }: Grid,
  { scale: fullScale, offset }: PixelRange,
  planes: Float32Array,
): void {
  const { width, height, data } = pixels;
  const scale = fullScale / ALL_WEIGHTS;
  const stride = width * 3;
  const plane = side * side;
  const patch = new Uint8Array(3 * PATCH_STRIDE);
  for (let row = 0, at = 0; row < side; row++) {
    let x = startX - b * row;
    let y = startY + a * row;
    for (let column = 0; column < side; column++, at++, x += a, y += b) {
      const left = Math.floor(x);
      const top = Math.floor(y);
      if (left <= -3 || top <= -3 || left >= width || top >= height) continue;
      const x1 = firstWeight(x - left, gap);
      const x3 = thirdWeight(x - left, gap);
      const x2 = 2 - x1 - x3;
      const y1 = firstWeight(y - top, gap);
      const y3 = thirdWeight(y - top, gap);
      const y2 = 2 - y1 - y3;
      if (left >= 0 && top >= 0 && left + 2 < width && top + 2 < height) {
        const from = (top * width + left) * 3;
        planes[at] = blend(data, from, stride, x1, x2, x3, y1, y2, y3) * scale + offset;
        planes[at + plane] = blend(data, from + 1, stride, x1, x2, x3, y1, y2, y3) * scale + offset;
        planes[at + 2 * plane] = blend(data, from + 2, stride, x1, x2, x3, y1, y2, y3) * scale + offset;
      } else {
        copyPatch(pixels, left, top, patch);
        for (let channel = 0; channel < 3; channel++)
          planes[at + channel * plane] =
            blend(patch, channel, PATCH_STRIDE, x1, x2, x3, y1, y2, y3) * scale + offset;
      }
    }
  }
}

/** One channel of three by three pixels, weighed by column and row. */
function blend(
  data: Uint8Array,
  from: number,
  stride: number,
  x1: number,
  x2: number,
  x3: number,
  y1: number,
  y2: number,
  y3: number,
): number {
  const below = from + stride;
  const last = below + stride;
  return (
    (data[from]! * x1 + data[from + 3]! * x2 + data[from + 6]! * x3) * y1 +
    (data[below]! * x1 + data[below + 3]! * x2 + data[below + 6]! * x3) * y2 +
    (data[last]! * x1 + data[last + 3]! * x2 + data[last + 6]! * x3) * y3
  );
}

/** Bytes in a row of three pixels. */
const PATCH_STRIDE = 9;

/** Copies three by three pixels of which some lie outside the image, and are black. */
function copyPatch({ width, height, data }: Pixels, left: number, top: number, patch: Uint8Array): void {
  patch.fill(0);
  for (let y = Math.max(0, top); y < Math.min(height, top + 3); y++)
    for (let x = Math.max(0, left); x < Math.min(width, left + 3); x++) {
      const from = (y * width + x) * 3;
      const to = (y - top) * PATCH_STRIDE + (x - left) * 3;
      for (let channel = 0; channel < 3; channel++) patch[to + channel] = data[from + channel]!;
    }
}
