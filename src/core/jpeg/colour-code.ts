import {
  branchIf,
  type Code,
  type Half,
  I32,
  i8x16,
  i16x8,
  i32,
  i32x4,
  type Local,
  loop,
  V128,
  v128,
} from "../../wasm/code.ts";
import { compile, type WasmMemory } from "../../wasm/module.ts";
import { PIXEL_BYTES } from "../crop/image-memory.ts";

/** So many samples or pixels are made at once, and written and read beyond the end of a line. */
export const AT_ONCE = 16;

/**
 * Makes a line of twice as many samples: nine sixteenths of the nearest, three of the next in the line and of that in
 * the farther line, one of that beside it. A line has one sample more on either side. Halves are rounded up and down by
 * turns, as in libjpeg.
 */
export type Widen = (near: number, far: number, to: number, toEnd: number) => void;

/** The function over some memory. */
export const widenIn: (memory: WasmMemory) => Widen = compile({
  parameters: { near: I32, far: I32, to: I32, toEnd: I32 },
  variables: { three: V128, roundUp: V128, roundDown: V128, here: V128 },
  code: (of) => {
    const column = (step: -1 | 0 | 1) => {
      const samples = (line: Code) => v128.load8x8(i32.sub(line, i32.const(1)), 1 + step);
      return i16x8.add(i16x8.mul(samples(of.near), of.three), samples(of.far));
    };
    const blended = (beside: Code, rounding: Code) =>
      i16x8.shiftRight([of.here, beside, rounding].reduce(i16x8.add), i32.const(4));
    return [
      of.three.set(i16x8.splat(i32.const(3))),
      of.roundUp.set(i16x8.splat(i32.const(8))),
      of.roundDown.set(i16x8.splat(i32.const(7))),
      loop(
        of.here.set(i16x8.mul(column(0), of.three)),
        v128.store(
          of.to,
          v128.or(
            blended(column(-1), of.roundUp),
            i16x8.shiftLeft(blended(column(1), of.roundDown), i32.const(8)),
          ),
        ),
        of.near.set(i32.add(of.near, i32.const(AT_ONCE / 2))),
        of.far.set(i32.add(of.far, i32.const(AT_ONCE / 2))),
        of.to.set(i32.add(of.to, i32.const(AT_ONCE))),
        branchIf(0, i32.lessUnsigned(of.to, of.toEnd)),
      ),
    ];
  },
});

/** Makes a line of pixels of how bright they are, and how far off blue and red. */
export type Colour = (luma: number, blue: number, red: number, to: number, toEnd: number) => void;

/** The function over some memory. */
export const colourIn: (memory: WasmMemory) => Colour = compile({
  parameters: { luma: I32, blue: I32, red: I32, to: I32, toEnd: I32 },
  variables: {
    middle: V128,
    redFactor: V128,
    blueFactor: V128,
    greenFactors: V128,
    greenRounding: V128,
    packed: V128,
    y: V128,
    cb: V128,
    cr: V128,
    r0: V128,
    g0: V128,
    b0: V128,
    r1: V128,
    g1: V128,
    b1: V128,
  },
  code: (of) => {
    const green = (half: Half) => {
      const sum = i32x4.dotI16x8(v128.interleave(of.cb, of.cr, 2, half), of.greenFactors);
      return i32x4.shiftRight(i32x4.add(sum, of.greenRounding), i32.const(16));
    };
    /** Eight pixels. */
    const findColours = (offset: number, r: Local, g: Local, b: Local): Code => [
      of.y.set(v128.load8x8(of.luma, offset)),
      of.cb.set(i16x8.sub(v128.load8x8(of.blue, offset), of.middle)),
      of.cr.set(i16x8.sub(v128.load8x8(of.red, offset), of.middle)),
      r.set([of.y, of.cr, i16x8.mulQ15(of.cr, of.redFactor)].reduce(i16x8.add)),
      b.set([of.y, of.cb, of.cb, i16x8.mulQ15(of.cb, of.blueFactor)].reduce(i16x8.add)),
      g.set(i16x8.sub(i16x8.add(of.y, i16x8.fromI32x4(green(0), green(1))), of.cr)),
    ];
    /** Four pixels, and the first bytes of the next ones, which are written over. */
    const storePixels = (redGreen: Code, blue: Code, half: Half, i: number): Code =>
      v128.store(
        of.to,
        v128.swizzle(v128.interleave(redGreen, blue, 2, half), of.packed),
        4 * PIXEL_BYTES * i,
      );
    return [
      of.middle.set(i16x8.splat(i32.const(128))),
      // Red is off by 1.402 and blue by 1.772, told here by what is beyond 1 and below 2. Of all numbers of 15 bits these
      // are among the few by which every sample is rounded as in libjpeg, which has more bits.
      of.redFactor.set(i16x8.splat(i32.const(13173))),
      of.blueFactor.set(i16x8.splat(i32.const(-7471))),
      // Green is off by 0.344 of the one and 0.714 of the other, or by one of it less 0.286.
      of.greenFactors.set(i16x8.pairs(-22554, 65536 - 46802)),
      of.greenRounding.set(i32x4.splat(i32.const(2 ** 15))),
      of.packed.set(v128.const([0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15])),
      loop(
        findColours(0, of.r0, of.g0, of.b0),
        findColours(8, of.r1, of.g1, of.b1),
        of.r0.set(i8x16.fromI16x8(of.r0, of.r1)),
        of.g0.set(i8x16.fromI16x8(of.g0, of.g1)),
        of.b0.set(i8x16.fromI16x8(of.b0, of.b1)),
        of.r1.set(v128.interleave(of.r0, of.g0, 1, 1)),
        of.r0.set(v128.interleave(of.r0, of.g0, 1, 0)),
        of.b1.set(v128.interleave(of.b0, of.b0, 1, 1)),
        of.b0.set(v128.interleave(of.b0, of.b0, 1, 0)),
        [storePixels(of.r0, of.b0, 0, 0), storePixels(of.r0, of.b0, 1, 1)],
        [storePixels(of.r1, of.b1, 0, 2), storePixels(of.r1, of.b1, 1, 3)],
        of.luma.set(i32.add(of.luma, i32.const(AT_ONCE))),
        of.blue.set(i32.add(of.blue, i32.const(AT_ONCE))),
        of.red.set(i32.add(of.red, i32.const(AT_ONCE))),
        of.to.set(i32.add(of.to, i32.const(PIXEL_BYTES * AT_ONCE))),
        branchIf(0, i32.lessUnsigned(of.to, of.toEnd)),
      ),
    ];
  },
});
