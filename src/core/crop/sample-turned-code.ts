import { type Code, f32, f32x4, f64, I32, i32, i32x4, V128, v128 } from "../../wasm/code.ts";
import { compile } from "../../wasm/module.ts";
import { PIXEL_BYTES } from "./image-memory.ts";
import {
  AXIS_WEIGHT,
  NOTHING,
  PARAMETERS,
  type SampleIn,
  samplingCode,
  VARIABLES,
  wholeNumbers,
} from "./sample-code.ts";

/** Weights across are whole numbers, this being 1: the largest that twice of it fits 16 bits with a sign. */
const UNIT = 2 ** 13;

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

/** The table's vectors: where the pixels begin, their weights across (the first two as 16 bits each), and down. */
const ADDRESS = 0;
const ACROSS_12 = 1;
const ACROSS_3 = 2;
const DOWN = [3, 4, 5];
const VECTORS = 6;

/** Fills a crop that may be turned: for each of its pixels, three pixels of three lines are weighed. */
export const sampleTurnedIn: SampleIn = compile({
  parameters: PARAMETERS,
  variables: {
    ...VARIABLES,
    scales: V128,
    addresses: V128,
    across1: V128,
    across2: V128,
    across12: V128,
    across3: V128,
    line: V128,
    from: I32,
  },
  code: (of) => {
    const code = samplingCode(of, VECTORS);
    const inUnits = (weight: Code): Code => wholeNumbers(f32x4.mul(weight, f32x4.splat(f32.const(UNIT))));

    const fillTable = code.eachFourColumns(
      code.findPixels(code.samplesFrom(of.x, of.a)),
      of.addresses.set(i32x4.mul(code.firstPixels(of.width), i32x4.splat(i32.const(PIXEL_BYTES)))),
      of.across1.set(inUnits(of.weight1)),
      of.across3.set(inUnits(of.weight3)),
      of.across2.set(
        i32x4.sub(i32x4.splat(i32.const(AXIS_WEIGHT * UNIT)), i32x4.add(of.across1, of.across3)),
      ),
      of.across12.set(v128.or(of.across1, i32x4.shiftLeft(of.across2, i32.const(16)))),

      code.findPixels(code.samplesFrom(of.y, of.b)),
      of.addresses.set(
        i32x4.add(of.addresses, i32x4.mul(code.firstPixels(of.height), i32x4.splat(of.stride))),
      ),
      code.writeTable(
        i32x4.add(of.addresses, i32x4.splat(of.image)),
        of.across12,
        of.across3,
        ...code.weights.map((weight) => f32x4.mul(weight, of.scales)),
      ),
    );

    /** Three pixels of the line that `from` points to, weighed; then it points to the next. */
    const blendLine = (down: number): Code => [
      of.line.set(v128.load(of.from)),
      of.from.set(i32.add(of.from, of.stride)),
      f32x4.mul(
        f32x4.fromI32x4(
          i32x4.add(
            i32x4.dotI16x8(v128.swizzle(of.line, FIRST_TWO), of.across12),
            i32x4.dotI16x8(v128.swizzle(of.line, THIRD), of.across3),
          ),
        ),
        code.spreadOf(down),
      ),
    ];

    const drawRow = code.eachFourColumns(
      code.drawPixels([
        of.from.set(code.numberOf(ADDRESS)),
        of.across12.set(code.spreadOf(ACROSS_12)),
        of.across3.set(code.spreadOf(ACROSS_3)),
        DOWN.map(blendLine).reduce(f32x4.add),
      ]),
    );

    return [
      code.setConstants,
      of.scales.set(f32x4.splat(f32.mul(of.scale, f32.const(1 / (AXIS_WEIGHT ** 2 * UNIT))))),
      code.eachRow(fillTable, drawRow, of.x.set(f64.sub(of.x, of.b)), of.y.set(f64.add(of.y, of.a))),
    ];
  },
});
