import { PIXEL_BYTES } from "./constants";

/** Output pixels computed at once. */
const PIXELS_PER_STEP = 2;

// Of 16 bytes that begin with four pixels: the colours of pixels 0 and 2, or 1 and 3, in 16-bit lanes. Index -1 gives
// zero.
const PIXELS_0_2 = i8x16(0, -1, 1, -1, 2, -1, 6, -1, 7, -1, 8, -1, -1, -1, -1, -1);
const PIXELS_1_3 = i8x16(3, -1, 4, -1, 5, -1, 9, -1, 10, -1, 11, -1, -1, -1, -1, -1);

/** Halves an image with a box filter: an output pixel is the rounded mean of two by two pixels. */
export function halve(from: usize, fromStride: i32, to: usize, toStride: i32, width: i32, height: i32): void {
  for (let row = 0; row < height; row++) {
    const end = to + width * PIXEL_BYTES;
    let source = from;
    let target = to;
    do {
      const upper = v128.load(source);
      const lower = v128.load(source + fromStride);
      let sum = i16x8.add(v128.swizzle(upper, PIXELS_0_2), v128.swizzle(upper, PIXELS_1_3));
      sum = i16x8.add(sum, v128.swizzle(lower, PIXELS_0_2));
      sum = i16x8.add(sum, v128.swizzle(lower, PIXELS_1_3));
      sum = i16x8.add(sum, i16x8.splat(2));
      v128.store(target, i8x16.narrow_i16x8_u(i16x8.shr_s(sum, 2), i16x8.splat(0)));
      source += 2 * PIXELS_PER_STEP * PIXEL_BYTES;
      target += PIXELS_PER_STEP * PIXEL_BYTES;
    } while (target < end);
    from += 2 * fromStride;
    to += toStride;
  }
}
