import { PADDING, PIXEL_BYTES, PIXELS_PER_STEP } from "./constants";

// Along an axis, a crop pixel is the mean of two samples that lie `gap` (0 to 1) apart. Each sample interpolates two
// neighbouring pixels, so the two samples read three consecutive pixels. The weights of these three add up to
// WEIGHT_SUM. All functions work on four crop pixels at once, one per lane.

/** Sum of the three weights along an axis: 1 for each of the two samples. */
const WEIGHT_SUM: f32 = 2;

const VECTOR_BYTES = 16;

const ZERO = i32x4(0, 0, 0, 0);

/** A float that is added to this number has its integer part in the low bits of the sum. */
const ROUNDING_BIAS: f32 = 1.5 * 8388608;
const ROUNDING_BIAS_BITS: i32 = 0x4b400000;

/** Column numbers of the first four pixels of a row. */
const FIRST_COLUMNS = f32x4(0, 1, 2, 3);

/** Fixed-point 1 of the horizontal weights. Twice this number is the largest power of two in a signed 16-bit lane. */
const FIXED_ONE: f32 = 8192;

// Of 16 bytes that begin with three pixels: the colours of pixels 0 and 1 side by side in 16-bit lanes, and those of
// pixel 2 in 32-bit lanes. Index -1 gives zero.
const PIXELS_0_1 = i8x16(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1);
const PIXEL_2 = i8x16(6, -1, -1, -1, 7, -1, -1, -1, 8, -1, -1, -1, -1, -1, -1, -1);

// A table entry describes four crop pixels in six vectors: the addresses of their first image pixels, the horizontal
// weights (the first two packed as 16-bit pairs, then the third), and the three vertical weights.
const ENTRY_BYTES = 6 * VECTOR_BYTES;

/**
 * Samples a crop at any rotation. For each crop pixel it reads three pixels of each of three image rows. See
 * `kernels.wasm.d.ts` for the parameters.
 */
export function sample(
  image: usize,
  stride: i32,
  width: f32,
  height: f32,
  x: f64,
  y: f64,
  a: f64,
  b: f64,
  gap: f32,
  scratch: usize,
  planes: usize,
  columns: i32,
  rows: i32,
): void {
  const table = scratch + PIXELS_PER_STEP * VECTOR_BYTES;
  const gaps = f32x4.splat(gap);
  const scales = f32x4.splat(1 / (WEIGHT_SUM * WEIGHT_SUM * FIXED_ONE));
  const planeBytes = 4 * columns * rows;
  for (let row = 0; row < rows; row++) {
    // Finding the weights and using them in one loop would need more registers than there are.
    fillTable(table, columns, image, stride, width, height, x, y, a, b, gaps, scales);
    sampleRow(table, columns, stride, scratch, planes, planeBytes);
    planes += 4 * columns;
    x -= b;
    y += a;
  }
}

function fillTable(
  entry: usize,
  count: i32,
  image: usize,
  stride: i32,
  width: f32,
  height: f32,
  x: f64,
  y: f64,
  a: f64,
  b: f64,
  gaps: v128,
  scales: v128,
): void {
  let columns = FIRST_COLUMNS;
  let column = 0;
  do {
    const xs = samplePositions(x, a, columns);
    const distanceX = distanceToSecond(xs);
    const across0 = fixedPoint(firstWeight(distanceX, gaps));
    const across2 = fixedPoint(thirdWeight(distanceX, gaps));
    const across1 = i32x4.sub(i32x4.splat((WEIGHT_SUM * FIXED_ONE) as i32), i32x4.add(across0, across2));

    const ys = samplePositions(y, b, columns);
    const distanceY = distanceToSecond(ys);
    const down0 = firstWeight(distanceY, gaps);
    const down2 = thirdWeight(distanceY, gaps);
    const down1 = f32x4.sub(f32x4.splat(WEIGHT_SUM), f32x4.add(down0, down2));

    const inRow = i32x4.mul(firstPixels(xs, width), i32x4.splat(PIXEL_BYTES));
    const offsets = i32x4.add(inRow, i32x4.mul(firstPixels(ys, height), i32x4.splat(stride)));
    v128.store(entry, i32x4.add(offsets, i32x4.splat(image as i32)), 0);
    v128.store(entry, v128.or(across0, i32x4.shl(across1, 16)), 16);
    v128.store(entry, across2, 32);
    v128.store(entry, f32x4.mul(down0, scales), 48);
    v128.store(entry, f32x4.mul(down1, scales), 64);
    v128.store(entry, f32x4.mul(down2, scales), 80);
    columns = f32x4.add(columns, f32x4.splat(PIXELS_PER_STEP as f32));
    entry += ENTRY_BYTES;
    column += PIXELS_PER_STEP;
  } while (column < count);
}

function fixedPoint(weights: v128): v128 {
  return roundToInt(f32x4.mul(weights, f32x4.splat(FIXED_ONE)));
}

function sampleRow(
  entry: usize,
  count: i32,
  stride: i32,
  pixels: usize,
  planes: usize,
  planeBytes: usize,
): void {
  let column = 0;
  do {
    // Storing each pixel at once keeps V8 from loading the operands of all four first, for which it lacks registers.
    v128.store(pixels, samplePixel(entry, stride), 0);
    v128.store(pixels, samplePixel(entry + 4, stride), 16);
    v128.store(pixels, samplePixel(entry + 8, stride), 32);
    v128.store(pixels, samplePixel(entry + 12, stride), 48);
    storePlanes(pixels, planes, planeBytes);
    planes += VECTOR_BYTES;
    entry += ENTRY_BYTES;
    column += PIXELS_PER_STEP;
  } while (column < count);
}

/** The pixel of one lane of a table entry: red, green, blue and an unused lane. */
function samplePixel(lane: usize, stride: i32): v128 {
  const address = load<usize>(lane, 0);
  const across01 = v128.load_splat<i32>(lane, 16);
  const across2 = v128.load_splat<i32>(lane, 32);
  const row0 = interpolate(v128.load(address), across01, across2);
  const row1 = interpolate(v128.load(address + stride), across01, across2);
  const row2 = interpolate(v128.load(address + stride + stride), across01, across2);
  return f32x4.add(
    f32x4.add(
      f32x4.mul(row0, v128.load_splat<f32>(lane, 48)),
      f32x4.mul(row1, v128.load_splat<f32>(lane, 64)),
    ),
    f32x4.mul(row2, v128.load_splat<f32>(lane, 80)),
  );
}

/** The weighted sum of three pixels in a row. */
function interpolate(bytes: v128, across01: v128, across2: v128): v128 {
  const sum01 = i32x4.dot_i16x8_s(v128.swizzle(bytes, PIXELS_0_1), across01);
  const sum2 = i32x4.dot_i16x8_s(v128.swizzle(bytes, PIXEL_2), across2);
  return f32x4.convert_i32x4_s(i32x4.add(sum01, sum2));
}

/** Positions along one axis of the first samples of four columns. */
function samplePositions(start: f64, step: f64, columns: v128): v128 {
  return f32x4.add(f32x4.splat(start as f32), f32x4.mul(f32x4.splat(step as f32), columns));
}

/** Distance from the first sample to the second of its three pixels, 0 to 1. */
function distanceToSecond(positions: v128): v128 {
  return f32x4.sub(f32x4.splat(1), f32x4.sub(positions, f32x4.floor(positions)));
}

function firstWeight(distance: v128, gap: v128): v128 {
  return f32x4.add(distance, f32x4.pmax(ZERO, f32x4.sub(distance, gap)));
}

function thirdWeight(distance: v128, gap: v128): v128 {
  return f32x4.pmax(ZERO, f32x4.sub(gap, distance));
}

/** Indices of the first of the three pixels, clamped to the padding of an image of this width or height. */
function firstPixels(positions: v128, length: f32): v128 {
  const clamped = f32x4.pmin(f32x4.splat(length), f32x4.floor(positions));
  return roundToInt(f32x4.pmax(f32x4.splat(-PADDING as f32), clamped));
}

/** Rounds lanes of at most 2^22 in magnitude to integers. Faster than `i32x4.trunc_sat_f32x4_s`. */
function roundToInt(lanes: v128): v128 {
  return i32x4.sub(f32x4.add(lanes, f32x4.splat(ROUNDING_BIAS)), i32x4.splat(ROUNDING_BIAS_BITS));
}

/**
 * Writes four pixels into the three planes of the input tensor. Each pixel at `pixels` is a vector of red, green,
 * blue and an unused lane.
 */
function storePlanes(pixels: usize, planes: usize, planeBytes: usize): void {
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
