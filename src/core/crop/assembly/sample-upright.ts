import { PIXEL_BYTES, PIXELS_PER_STEP } from "./constants";
import {
  distanceToSecond,
  FIRST_COLUMNS,
  firstPixels,
  firstWeight,
  nextColumns,
  samplePositions,
  secondWeight,
  storePlanes,
  thirdWeight,
  VECTOR_BYTES,
  WEIGHT_SUM,
} from "./sampling";

/** Bytes of a pixel in the blended row, whose colours are 32-bit floats. */
const BLENDED_PIXEL_BYTES = 4 * PIXEL_BYTES;

// Four of 16 bytes, widened to 32-bit lanes. Index -1 gives zero.
const BYTES_0_3 = i8x16(0, -1, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1, 3, -1, -1, -1);
const BYTES_4_7 = i8x16(4, -1, -1, -1, 5, -1, -1, -1, 6, -1, -1, -1, 7, -1, -1, -1);
const BYTES_8_11 = i8x16(8, -1, -1, -1, 9, -1, -1, -1, 10, -1, -1, -1, 11, -1, -1, -1);
const BYTES_12_15 = i8x16(12, -1, -1, -1, 13, -1, -1, -1, 14, -1, -1, -1, 15, -1, -1, -1);

// A table entry describes four crop pixels in four vectors: the addresses of their first pixels in the blended row,
// and the three horizontal weights.
const ENTRY_BYTES = 4 * VECTOR_BYTES;

/**
 * Samples a crop that is not rotated. For each crop row it blends three image rows into one, and for each crop pixel it
 * reads three pixels of that blended row. See `kernels.wasm.d.ts` for the parameters.
 */
export function sampleUpright(
  image: usize,
  stride: i32,
  width: f32,
  height: f32,
  x: f64,
  y: f64,
  step: f64,
  gap: f32,
  scratch: usize,
  planes: usize,
  side: i32,
  scale: f32,
  offset: f32,
): void {
  const table = scratch + PIXELS_PER_STEP * VECTOR_BYTES;
  const blended = table + (side / PIXELS_PER_STEP) * ENTRY_BYTES;
  const gaps = f32x4.splat(gap);
  const offsets = f32x4.splat(offset);
  const scales = f32x4.splat(scale * (1 / (WEIGHT_SUM * WEIGHT_SUM)));
  const planeBytes = 4 * side * side;
  const left = i32x4.extract_lane(firstPixels(f32x4.splat(x as f32), width), 0);
  const blendedEnd = fillTable(table, side, blended, left, width, x, step, gaps);
  image += left * PIXEL_BYTES;
  for (let row = 0; row < side; row++) {
    blendRows(image, stride, height, f32x4.splat(y as f32), gaps, scales, blended, blendedEnd);
    sampleRow(table, side, scratch, planes, planeBytes, offsets);
    planes += 4 * side;
    y += step;
  }
}

/** Fills the table and returns the end of the blended row. */
function fillTable(
  entry: usize,
  side: i32,
  blended: usize,
  left: i32,
  width: f32,
  x: f64,
  step: f64,
  gaps: v128,
): usize {
  let columns = FIRST_COLUMNS;
  let addresses = columns;
  let column = 0;
  do {
    const xs = samplePositions(x, step, columns);
    const distance = distanceToSecond(xs);
    const across0 = firstWeight(distance, gaps);
    const across2 = thirdWeight(distance, gaps);
    const inRow = i32x4.sub(firstPixels(xs, width), i32x4.splat(left));
    addresses = i32x4.add(i32x4.splat(blended as i32), i32x4.mul(inRow, i32x4.splat(BLENDED_PIXEL_BYTES)));
    v128.store(entry, addresses, 0);
    v128.store(entry, across0, 16);
    v128.store(entry, secondWeight(across0, across2), 32);
    v128.store(entry, across2, 48);
    columns = nextColumns(columns);
    entry += ENTRY_BYTES;
    column += PIXELS_PER_STEP;
  } while (column < side);
  return i32x4.extract_lane(addresses, 3) + 3 * BLENDED_PIXEL_BYTES;
}

/** Blends the three image rows at a vertical position into one row of floats. */
function blendRows(
  image: usize,
  stride: i32,
  height: f32,
  ys: v128,
  gaps: v128,
  scales: v128,
  blended: usize,
  blendedEnd: usize,
): void {
  const distance = distanceToSecond(ys);
  const first = firstWeight(distance, gaps);
  const third = thirdWeight(distance, gaps);
  const down0 = f32x4.mul(first, scales);
  const down1 = f32x4.mul(secondWeight(first, third), scales);
  const down2 = f32x4.mul(third, scales);
  let from = image + stride * i32x4.extract_lane(firstPixels(ys, height), 0);
  let to = blended;
  do {
    const row0 = v128.load(from);
    const row1 = v128.load(from + stride);
    const row2 = v128.load(from + 2 * stride);
    v128.store(to, blend(row0, row1, row2, BYTES_0_3, down0, down1, down2), 0);
    v128.store(to, blend(row0, row1, row2, BYTES_4_7, down0, down1, down2), 16);
    v128.store(to, blend(row0, row1, row2, BYTES_8_11, down0, down1, down2), 32);
    v128.store(to, blend(row0, row1, row2, BYTES_12_15, down0, down1, down2), 48);
    from += 16;
    to += 64;
  } while (to < blendedEnd);
}

/** The weighted sum of four bytes of each of three rows. */
function blend(row0: v128, row1: v128, row2: v128, bytes: v128, down0: v128, down1: v128, down2: v128): v128 {
  return f32x4.add(
    f32x4.add(
      f32x4.mul(f32x4.convert_i32x4_s(v128.swizzle(row0, bytes)), down0),
      f32x4.mul(f32x4.convert_i32x4_s(v128.swizzle(row1, bytes)), down1),
    ),
    f32x4.mul(f32x4.convert_i32x4_s(v128.swizzle(row2, bytes)), down2),
  );
}

function sampleRow(
  entry: usize,
  side: i32,
  pixels: usize,
  planes: usize,
  planeBytes: usize,
  offsets: v128,
): void {
  let column = 0;
  do {
    // Storing each pixel at once keeps V8 from loading the operands of all four first, for which it lacks registers.
    v128.store(pixels, samplePixel(entry), 0);
    v128.store(pixels, samplePixel(entry + 4), 16);
    v128.store(pixels, samplePixel(entry + 8), 32);
    v128.store(pixels, samplePixel(entry + 12), 48);
    storePlanes(pixels, planes, planeBytes, offsets);
    planes += VECTOR_BYTES;
    entry += ENTRY_BYTES;
    column += PIXELS_PER_STEP;
  } while (column < side);
}

/** The pixel of one lane of a table entry: red, green, blue and an unused lane. */
function samplePixel(lane: usize): v128 {
  const address = load<usize>(lane, 0);
  return f32x4.add(
    f32x4.add(
      f32x4.mul(v128.load(address, 0), v128.load_splat<f32>(lane, 16)),
      f32x4.mul(v128.load(address, 12), v128.load_splat<f32>(lane, 32)),
    ),
    f32x4.mul(v128.load(address, 24), v128.load_splat<f32>(lane, 48)),
  );
}
