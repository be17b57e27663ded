import { branchIf, I32, i8x16, i16x8, i32, loop, V128, v128 } from "../../wasm/code.ts";
import { compile, type WasmMemory } from "../../wasm/module.ts";
import { PIXEL_BYTES } from "./image-memory.ts";

/** So many pixels are made at once. */
const AT_ONCE = 2;

const NOTHING = 128;

/** The colours of two pixels out of 16 bytes, each as 16 bits: of the first and third pixel, or the second and fourth. */
function coloursFrom(pixel: 0 | 1) {
  const places = [0, 2].flatMap((pair) =>
    [0, 1, 2].flatMap((channel) => [PIXEL_BYTES * (pair + pixel) + channel, NOTHING]),
  );
  return v128.const([...places, NOTHING, NOTHING, NOTHING, NOTHING]);
}

/**
 * Makes an image of half the size: each pixel is the rounded mean of two by two. Addresses are those of the first
 * pixels, strides the bytes from line to line, width and height those of the half. Lines are written beyond their
 * end, into the margin.
 */
export type Halve = (
  from: number,
  fromStride: number,
  to: number,
  toStride: number,
  width: number,
  height: number,
) => void;

/** The function over some memory. */
export const halveIn: (memory: WasmMemory) => Halve = compile({
  parameters: { from: I32, fromStride: I32, to: I32, toStride: I32, width: I32, height: I32 },
  variables: { upper: V128, lower: V128, row: I32, source: I32, target: I32, end: I32 },
  code: (of) => {
    const sum = [
      v128.swizzle(of.upper, coloursFrom(0)),
      v128.swizzle(of.upper, coloursFrom(1)),
      v128.swizzle(of.lower, coloursFrom(0)),
      v128.swizzle(of.lower, coloursFrom(1)),
      i16x8.splat(i32.const(2)),
    ].reduce(i16x8.add);
    return [
      of.row.set(of.height),
      loop(
        of.source.set(of.from),
        of.target.set(of.to),
        of.end.set(i32.add(of.to, i32.mul(of.width, i32.const(PIXEL_BYTES)))),
        loop(
          of.upper.set(v128.load(of.source)),
          of.lower.set(v128.load(i32.add(of.source, of.fromStride))),
          v128.store(of.target, i8x16.fromI16x8(i16x8.shiftRight(sum, i32.const(2)), v128.zero)),
          of.source.set(i32.add(of.source, i32.const(2 * AT_ONCE * PIXEL_BYTES))),
          of.target.set(i32.add(of.target, i32.const(AT_ONCE * PIXEL_BYTES))),
          branchIf(0, i32.lessUnsigned(of.target, of.end)),
        ),
        of.from.set(i32.add(of.from, i32.mul(i32.const(2), of.fromStride))),
        of.to.set(i32.add(of.to, of.toStride)),
        branchIf(0, of.row.tee(i32.sub(of.row, i32.const(1)))),
      ),
    ];
  },
});
