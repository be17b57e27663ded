import { PADDING, PIXELS_PER_STEP } from "./constants";

// Along an axis, a crop pixel is the mean of two samples that lie `gap` (0 to 1) apart. Each sample interpolates two
// neighbouring pixels, so the two samples read three consecutive pixels. The weights of these three add up to
// WEIGHT_SUM. All functions work on four crop pixels at once, one per lane.

/** Sum of the three weights along an axis: 1 for each of the two samples. */
export const WEIGHT_SUM: f32 = 2;

export const VECTOR_BYTES = 16;

const ZERO = i32x4(0, 0, 0, 0);

/** A float that is added to this number has its integer part in the low bits of the sum. */
const ROUNDING_BIAS: f32 = 1.5 * 8388608;
const ROUNDING_BIAS_BITS: i32 = 0x4b400000;

/** Column numbers of the first four pixels of a row. */
export const FIRST_COLUMNS = f32x4(0, 1, 2, 3);

/** Positions along one axis of the first samples of four columns. */
export function samplePositions(start: f64, step: f64, columns: v128): v128 {
  return f32x4.add(f32x4.splat(start as f32), f32x4.mul(f32x4.splat(step as f32), columns));
}

/** Distance from the first sample to the second of its three pixels, 0 to 1. */
export function distanceToSecond(positions: v128): v128 {
  return f32x4.sub(f32x4.splat(1), f32x4.sub(positions, f32x4.floor(positions)));
}

export function firstWeight(distance: v128, gap: v128): v128 {
  return f32x4.add(distance, f32x4.pmax(ZERO, f32x4.sub(distance, gap)));
}

export function secondWeight(first: v128, third: v128): v128 {
  return f32x4.sub(f32x4.splat(WEIGHT_SUM), f32x4.add(first, third));
}

export function thirdWeight(distance: v128, gap: v128): v128 {
  return f32x4.pmax(ZERO, f32x4.sub(gap, distance));
}

/** Indices of the first of the three pixels, clamped to the padding of an image of this width or height. */
export function firstPixels(positions: v128, length: f32): v128 {
  const clamped = f32x4.pmin(f32x4.splat(length), f32x4.floor(positions));
  return roundToInt(f32x4.pmax(f32x4.splat(-PADDING as f32), clamped));
}

/** Rounds lanes of at most 2^22 in magnitude to integers. Faster than `i32x4.trunc_sat_f32x4_s`. */
export function roundToInt(lanes: v128): v128 {
  return i32x4.sub(f32x4.add(lanes, f32x4.splat(ROUNDING_BIAS)), i32x4.splat(ROUNDING_BIAS_BITS));
}

/** Columns of the next four pixels. */
export function nextColumns(columns: v128): v128 {
  return f32x4.add(columns, f32x4.splat(PIXELS_PER_STEP as f32));
}

/**
 * Writes four pixels into the three planes of the input tensor. Each pixel at `pixels` is a vector of red, green,
 * blue and an unused lane.
 */
export function storePlanes(pixels: usize, planes: usize, planeBytes: usize): void {
  const pixel0 = v128.load(pixels, 0);
  const pixel1 = v128.load(pixels, 16);
  const pixel2 = v128.load(pixels, 32);
  const pixel3 = v128.load(pixels, 48);
  // Transposes by pairs, for which processors have instructions.
  const redGreen01 = v128.shuffle<f32>(pixel0, pixel1, 0, 4, 1, 5);
  const redGreen23 = v128.shuffle<f32>(pixel2, pixel3, 0, 4, 1, 5);
  const blue01 = v128.shuffle<f32>(pixel0, pixel1, 2, 6, 3, 7);
  const blue23 = v128.shuffle<f32>(pixel2, pixel3, 2, 6, 3, 7);
  const red = v128.shuffle<f32>(redGreen01, redGreen23, 0, 1, 4, 5);
  const green = v128.shuffle<f32>(redGreen01, redGreen23, 2, 3, 6, 7);
  const blue = v128.shuffle<f32>(blue01, blue23, 0, 1, 4, 5);
  v128.store(planes, red);
  v128.store(planes + planeBytes, green);
  v128.store(planes + 2 * planeBytes, blue);
}
