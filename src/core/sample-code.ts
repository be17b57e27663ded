import {
  branchIf,
  type Code,
  F32,
  F64,
  f32,
  f32x4,
  f64,
  I32,
  i32,
  i32x4,
  loop,
  V128,
  v128,
} from "../wasm/code.ts";
import { compile, type WasmMemory } from "../wasm/module.ts";
import { MARGIN, PIXEL_BYTES } from "./image-memory.ts";

/** So many pixels of a crop are made at once. */
export const AT_ONCE = 4;

/** Sum of the weights of all pixels in a sum of two by two samples. */
const ALL_WEIGHTS = 4;

/** Weights across are whole numbers, this being 1: the largest that twice of it fits 16 bits with a sign. */
const UNIT = 2 ** 13;

/** A number of up to 22 bits that is added to this is whole, and stands in the lower bits of the sum. */
const ROUNDER = 1.5 * 2 ** 23;
const ROUNDER_BITS = 0x4b40_0000;

const NOTHING = 128;

/** Of three pixels in 16 bytes: the colours of the first two, side by side, each as 16 bits. */
const FIRST_TWO = v128.const([
  ...[0, 1, 2].flatMap((channel) => [channel, NOTHING, PIXEL_BYTES + channel, NOTHING]),
  ...[NOTHING, NOTHING, NOTHING, NOTHING],
]);

/** The colours of the third pixel, each as 32 bits. */
const THIRD = v128.const([
  ...[0, 1, 2].flatMap((channel) => [2 * PIXEL_BYTES + channel, NOTHING, NOTHING, NOTHING]),
  ...[NOTHING, NOTHING, NOTHING, NOTHING],
]);

/**
 * Fills three planes with a crop of an image. Each pixel of the crop is the mean of two by two samples, `gap`
 * apart (0 to 1), each blended from the four pixels around it: it takes from three by three pixels in all.
 *
 * `image` is the address of the image's first pixel and `stride` the bytes from line to line. The first sample of
 * the crop's first pixel lies at (x, y), where pixels have their centres at whole numbers; one pixel to the right
 * in the crop is (a, b) in the image. Values are multiplied by `scale`, and `offset` is added.
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
  planes: number,
  side: number,
  scale: number,
  offset: number,
) => void;

/** The function over some memory. It finds places and weights for four pixels at once, then each one's three colours. */
export const sampleIn: (memory: WasmMemory) => Sample = compile({
  parameters: {
    image: I32,
    stride: I32,
    width: F32,
    height: F32,
    x: F64,
    y: F64,
    a: F64,
    b: F64,
    gap: F32,
    planes: I32,
    side: I32,
    scale: F32,
    offset: F32,
  },
  variables: {
    // What stays the same, four times.
    one: V128,
    two: V128,
    gaps: V128,
    least: V128,
    widths: V128,
    heights: V128,
    strides: V128,
    units: V128,
    rounders: V128,
    scales: V128,
    offsets: V128,
    // Of four pixels.
    columns: V128,
    place: V128,
    whole: V128,
    rest: V128,
    addresses: V128,
    across12: V128,
    across3: V128,
    down1: V128,
    down2: V128,
    down3: V128,
    // Of one pixel, its colours.
    line: V128,
    pixel0: V128,
    pixel1: V128,
    pixel2: V128,
    pixel3: V128,
    planeBytes: I32,
    row: I32,
    column: I32,
    from: I32,
  },
  code: (of) => {
    const pixels = [of.pixel0, of.pixel1, of.pixel2, of.pixel3];
    const downs = [of.down1, of.down2, of.down3];

    const setConstants = [
      of.one.set(f32x4.splat(f32.const(1))),
      of.two.set(f32x4.splat(f32.const(2))),
      of.gaps.set(f32x4.splat(of.gap)),
      of.least.set(f32x4.splat(f32.const(-MARGIN))),
      of.widths.set(f32x4.splat(of.width)),
      of.heights.set(f32x4.splat(of.height)),
      of.strides.set(i32x4.splat(of.stride)),
      of.units.set(f32x4.splat(f32.const(UNIT))),
      of.rounders.set(f32x4.splat(f32.const(ROUNDER))),
      of.scales.set(f32x4.splat(f32.mul(of.scale, f32.const(1 / (ALL_WEIGHTS * UNIT))))),
      of.offsets.set(f32x4.splat(of.offset)),
      of.planeBytes.set(i32.mul(i32.const(4), i32.mul(of.side, of.side))),
      // The addresses will have ROUNDER_BITS in them, times what they are multiplied by.
      of.image.set(
        i32.sub(of.image, i32.mul(i32.const(ROUNDER_BITS), i32.add(of.stride, i32.const(PIXEL_BYTES)))),
      ),
    ];

    // `whole` is the first of three pixels that the samples of each place take from. The first sample lies
    // `1 - rest` after it; the weights of the three add up to 2.
    const findPixels = (start: Code, step: Code): Code => [
      of.place.set(
        f32x4.add(f32x4.splat(f32.fromF64(start)), f32x4.mul(f32x4.splat(f32.fromF64(step)), of.columns)),
      ),
      of.whole.set(f32x4.floor(of.place)),
      of.rest.set(f32x4.sub(of.one, f32x4.sub(of.place, of.whole))),
    ];
    const firstWeight = f32x4.add(of.rest, f32x4.max(v128.zero, f32x4.sub(of.rest, of.gaps)));
    const thirdWeight = f32x4.max(v128.zero, f32x4.sub(of.gaps, of.rest));

    /** The first pixels as whole numbers plus ROUNDER_BITS; those beyond the margin are in it. */
    const clamped = (most: Code): Code =>
      f32x4.add(f32x4.max(of.least, f32x4.min(most, of.whole)), of.rounders);

    const inUnits = (weight: Code): Code =>
      v128.and(f32x4.add(f32x4.mul(weight, of.units), of.rounders), i32x4.splat(i32.const(0xffff)));

    /** Three pixels of the line that `from` points to, weighed; then it points to the next. */
    const blendLine = (pixel: number, down: Code): Code => [
      of.line.set(v128.load(of.from)),
      of.from.set(i32.add(of.from, of.stride)),
      f32x4.mul(
        f32x4.fromI32x4(
          i32x4.add(
            i32x4.dotI16x8(v128.swizzle(of.line, FIRST_TWO), spread(of.across12, pixel)),
            i32x4.dotI16x8(v128.swizzle(of.line, THIRD), spread(of.across3, pixel)),
          ),
        ),
        spread(down, pixel),
      ),
    ];

    const makeFourPixels = [
      findPixels(of.x, of.a),
      of.addresses.set(i32x4.mul(clamped(of.widths), i32x4.splat(i32.const(PIXEL_BYTES)))),
      of.across3.set(inUnits(thirdWeight)),
      of.across12.set(inUnits(firstWeight)),
      of.rest.set(i32x4.sub(i32x4.sub(i32x4.splat(i32.const(2 * UNIT)), of.across12), of.across3)),
      of.across12.set(v128.or(of.across12, i32x4.shiftLeft(of.rest, i32.const(16)))),

      findPixels(of.y, of.b),
      of.addresses.set(i32x4.add(of.addresses, i32x4.mul(clamped(of.heights), of.strides))),
      of.down1.set(firstWeight),
      of.down3.set(thirdWeight),
      of.down2.set(f32x4.sub(f32x4.sub(of.two, of.down1), of.down3)),
      downs.map((down) => down.set(f32x4.mul(down, of.scales))),

      pixels.map((pixel, i) => [
        of.from.set(i32.add(of.image, i32x4.lane(of.addresses, i))),
        pixel.set(downs.map((down) => blendLine(i, down)).reduce(f32x4.add)),
      ]),
      [0, 1, 2].map((channel) =>
        v128.store(
          i32.add(of.planes, i32.mul(of.planeBytes, i32.const(channel))),
          f32x4.add(laneOfEach(pixels, channel), of.offsets),
        ),
      ),
    ];

    return [
      setConstants,
      of.row.set(of.side),
      loop(
        of.columns.set(v128.const([...new Uint8Array(Float32Array.of(0, 1, 2, 3).buffer)])),
        of.column.set(of.side),
        loop(
          makeFourPixels,
          of.planes.set(i32.add(of.planes, i32.const(4 * AT_ONCE))),
          of.columns.set(f32x4.add(of.columns, f32x4.splat(f32.const(AT_ONCE)))),
          branchIf(0, of.column.tee(i32.sub(of.column, i32.const(AT_ONCE)))),
        ),
        of.x.set(f64.sub(of.x, of.b)),
        of.y.set(f64.add(of.y, of.a)),
        branchIf(0, of.row.tee(i32.sub(of.row, i32.const(1)))),
      ),
    ];
  },
});

/** The same lane of four vectors. */
function laneOfEach([one, two, three, four]: readonly Code[], lane: number): Code {
  const bytes = (index: number) => [0, 1, 2, 3].map((byte) => 4 * index + byte);
  const pair = (first: Code, second: Code) =>
    v128.shuffle(first, second, [...bytes(lane), ...bytes(4 + lane), ...bytes(lane), ...bytes(4 + lane)]);
  return v128.shuffle(pair(one!, two!), pair(three!, four!), [
    ...bytes(0),
    ...bytes(1),
    ...bytes(4),
    ...bytes(5),
  ]);
}

/** One of the numbers of 32 bits, four times. */
function spread(vector: Code, index: number): Code {
  const bytes = [0, 1, 2, 3].map((byte) => 4 * index + byte);
  return v128.shuffle(vector, vector, [...bytes, ...bytes, ...bytes, ...bytes]);
}
