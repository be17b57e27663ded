import {
  branchIf,
  type Code,
  F32,
  F64,
  f32,
  f32x4,
  I32,
  i32,
  i32x4,
  type Local,
  loop,
  V128,
  v128,
} from "../../wasm/code.ts";
import type { WasmMemory } from "../../wasm/module.ts";
import { MARGIN } from "./image-memory.ts";

/**
 * Fills three planes with a crop of an image. Each pixel of the crop is the mean of two by two samples, `gap`
 * apart (0 to 1), each blended from the four pixels around it: it takes from three by three pixels in all.
 *
 * `image` is the address of the image's first pixel and `stride` the bytes from line to line. The first sample of
 * the crop's first pixel lies at (x, y), where pixels have their centres at whole numbers; one pixel to the right
 * in the crop is (a, b) in the image. Values are multiplied by `scale`, and `offset` is added. What is at `scratch`
 * is overwritten.
 */
export type Sample = (
  image: number,
  stride: number,
  width: number,
  height: number,
  x: number,
  y: number,
  a: number,
  b: number,
  gap: number,
  scratch: number,
  planes: number,
  side: number,
  scale: number,
  offset: number,
) => void;

export type SampleIn = (memory: WasmMemory) => Sample;

/** So many pixels are made at once. */
export const AT_ONCE = 4;

/** The weights of three pixels along an axis add up to this: 1 for each of two samples. */
export const AXIS_WEIGHT = 2;

export const PARAMETERS = {
  image: I32,
  stride: I32,
  width: F32,
  height: F32,
  x: F64,
  y: F64,
  a: F64,
  b: F64,
  gap: F32,
  scratch: I32,
  planes: I32,
  side: I32,
  scale: F32,
  offset: F32,
} as const;

export const VARIABLES = {
  gaps: V128,
  offsets: V128,
  planeBytes: I32,
  row: I32,
  // Of four pixels: their columns in the crop, and their row of the table, where each has a column.
  columns: V128,
  entry: I32,
  entryOfPixel: I32,
  column: I32,
  // Along one axis: the first of the three pixels that each takes from, how far before the second of these the first
  // sample lies, and what the three weigh.
  firstPixel: V128,
  rest: V128,
  weight1: V128,
  weight2: V128,
  weight3: V128,
  // Their colours.
  pixel0: V128,
  pixel1: V128,
  pixel2: V128,
  pixel3: V128,
} as const;

type Locals = Readonly<Record<keyof typeof PARAMETERS | keyof typeof VARIABLES, Local>>;

/** A float that is added to this is whole, and stands in the lower bits of the sum. */
const ROUNDER = 1.5 * 2 ** 23;
const ROUNDER_BITS = 0x4b40_0000;

/** In the places that a swizzle takes bytes from: none, zero. */
export const NOTHING = 128;

const VECTOR_BYTES = 16;
const FIRST_COLUMNS = v128.const([...new Uint8Array(Float32Array.of(0, 1, 2, 3).buffer)]);

/** In `scratch`, the table comes after the four pixels that are drawn. */
const TABLE = AT_ONCE * VECTOR_BYTES;

/**
 * What all ways to fill a crop share. What is found out for four pixels stands as so many vectors in a table, in
 * `scratch`, for all columns: finding and using it at once would take more registers than there are.
 */
export function samplingCode(of: Locals, vectors: number) {
  const pixels = [of.pixel0, of.pixel1, of.pixel2, of.pixel3];

  return {
    setConstants: [
      of.gaps.set(f32x4.splat(of.gap)),
      of.offsets.set(f32x4.splat(of.offset)),
      of.planeBytes.set(i32.mul(i32.const(4), i32.mul(of.side, of.side))),
    ],

    /** The first samples of four columns along an axis. */
    samplesFrom: (start: Code, step: Code): Code =>
      f32x4.add(f32x4.splat(f32.fromF64(start)), f32x4.mul(f32x4.splat(f32.fromF64(step)), of.columns)),

    /** Finds the three pixels that the samples of each place take from, and what they weigh. */
    findPixels: (samples: Code): Code => [
      of.rest.set(samples),
      of.firstPixel.set(f32x4.floor(of.rest)),
      of.rest.set(f32x4.sub(f32x4.splat(f32.const(1)), f32x4.sub(of.rest, of.firstPixel))),
      of.weight1.set(f32x4.add(of.rest, f32x4.max(v128.zero, f32x4.sub(of.rest, of.gaps)))),
      of.weight3.set(f32x4.max(v128.zero, f32x4.sub(of.gaps, of.rest))),
      of.weight2.set(f32x4.sub(f32x4.splat(f32.const(AXIS_WEIGHT)), f32x4.add(of.weight1, of.weight3))),
    ],
    weights: [of.weight1, of.weight2, of.weight3],

    /** The first pixels, as whole numbers; those beyond the margin of an image so wide or high are in it. */
    firstPixels: (length: Code): Code =>
      wholeNumbers(f32x4.max(f32x4.splat(f32.const(-MARGIN)), f32x4.min(f32x4.splat(length), of.firstPixel))),

    /** Where `scratch` is free, after the table. */
    free: i32.add(
      i32.add(of.scratch, i32.const(TABLE)),
      i32.mul(of.side, i32.const((VECTOR_BYTES * vectors) / AT_ONCE)),
    ),

    eachRow: (...body: Code[]): Code => [
      of.row.set(of.side),
      loop(body, branchIf(0, of.row.tee(i32.sub(of.row, i32.const(1))))),
    ],

    /** Does something for each four columns from left to right, and for their row of the table. */
    eachFourColumns: (...body: Code[]): Code => [
      of.columns.set(FIRST_COLUMNS),
      of.entry.set(i32.add(of.scratch, i32.const(TABLE))),
      of.column.set(of.side),
      loop(
        body,
        of.columns.set(f32x4.add(of.columns, f32x4.splat(f32.const(AT_ONCE)))),
        of.entry.set(i32.add(of.entry, i32.const(VECTOR_BYTES * vectors))),
        branchIf(0, of.column.tee(i32.sub(of.column, i32.const(AT_ONCE)))),
      ),
    ],

    writeTable: (...values: Code[]): Code =>
      values.map((value, i) => v128.store(of.entry, value, VECTOR_BYTES * i)),
    /** What a vector of the table holds for the pixel that is drawn. */
    numberOf: (vector: number): Code => i32.load(of.entryOfPixel, VECTOR_BYTES * vector),
    /** The same, four times. */
    spreadOf: (vector: number): Code => v128.loadSplat(of.entryOfPixel, VECTOR_BYTES * vector),

    /** Draws four pixels and puts them where the planes go on. */
    drawPixels: (draw: Code): Code => [
      of.entryOfPixel.set(of.entry),
      // Each is stored at once: V8 would else read what all four take before it works on the first, for which it
      // has too few registers.
      pixels.map((_, i) => [
        v128.store(of.scratch, draw, VECTOR_BYTES * i),
        of.entryOfPixel.set(i32.add(of.entryOfPixel, i32.const(4))),
      ]),
      pixels.map((pixel, i) => pixel.set(v128.load(of.scratch, VECTOR_BYTES * i))),
      planesOf(pixels).map((plane, i) =>
        v128.store(i32.add(of.planes, i32.mul(of.planeBytes, i32.const(i))), f32x4.add(plane, of.offsets)),
      ),
      of.planes.set(i32.add(of.planes, i32.const(4 * AT_ONCE))),
    ],
  };
}

/** The whole numbers nearest to floats of up to 22 bits, faster than by the instruction that takes all floats. */
export function wholeNumbers(floats: Code): Code {
  return i32x4.sub(f32x4.add(floats, f32x4.splat(f32.const(ROUNDER))), i32x4.splat(i32.const(ROUNDER_BITS)));
}

/** The first three lanes of four vectors, each as a vector: by pairs, for which processors have instructions. */
function planesOf([one, two, three, four]: readonly Code[]): Code[] {
  const lanes = (...places: number[]) =>
    places.flatMap((lane) => [0, 1, 2, 3].map((byte) => 4 * lane + byte));
  const shuffle = (first: Code, second: Code, ...places: number[]) =>
    v128.shuffle(first, second, lanes(...places));
  const lower = [shuffle(one!, two!, 0, 4, 1, 5), shuffle(three!, four!, 0, 4, 1, 5)] as const;
  const upper = [shuffle(one!, two!, 2, 6, 3, 7), shuffle(three!, four!, 2, 6, 3, 7)] as const;
  return [shuffle(...lower, 0, 1, 4, 5), shuffle(...lower, 2, 3, 6, 7), shuffle(...upper, 0, 1, 4, 5)];
}
