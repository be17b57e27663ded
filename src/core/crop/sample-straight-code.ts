import { branchIf, type Code, f32, f32x4, f64, I32, i32, i32x4, loop, V128, v128 } from "../../wasm/code.ts";
import { compile } from "../../wasm/module.ts";
import { PIXEL_BYTES } from "./image-memory.ts";
import { AXIS_WEIGHT, NOTHING, PARAMETERS, type SampleIn, samplingCode, VARIABLES } from "./sample-code.ts";

/** Bytes of a colour and of a pixel in the blended line. */
const FLOAT_BYTES = 4;
const BLENDED_BYTES = FLOAT_BYTES * PIXEL_BYTES;

/** So many colours of a line are blended at once, four in a vector. */
const BLENDED_AT_ONCE = 16;

/** Of 16 bytes, four from one on, each as 32 bits. */
const fourFrom = (first: number): Code =>
  v128.const([0, 1, 2, 3].flatMap((i) => [first + i, NOTHING, NOTHING, NOTHING]));

/** The table's vectors: where in the blended line the pixels begin, and their weights. */
const ADDRESS = 0;
const ACROSS = [1, 2, 3];
const VECTORS = 4;

/**
 * Fills a crop that is not turned (`a` above 0, `b` 0), faster: for each row of it, three lines are blended to one, after the
 * table in `scratch`; for each pixel, three of that line are weighed.
 */
export const sampleStraightIn: SampleIn = compile({
  parameters: PARAMETERS,
  variables: {
    ...VARIABLES,
    scales: V128,
    addresses: V128,
    line1: V128,
    line2: V128,
    line3: V128,
    // The blended line, and the first column of the image that it is made of.
    blended: I32,
    blendedEnd: I32,
    leftmost: I32,
    from: I32,
    to: I32,
  },
  code: (of) => {
    const code = samplingCode(of, VECTORS);
    const lines = [of.line1, of.line2, of.line3];

    const fillTable = [
      code.findPixels(f32x4.splat(f32.fromF64(of.x))),
      of.leftmost.set(i32x4.lane(code.firstPixels(of.width), 0)),
      of.blended.set(code.free),
      code.eachFourColumns(
        code.findPixels(code.samplesFrom(of.x, of.a)),
        of.addresses.set(
          i32x4.add(
            i32x4.splat(of.blended),
            i32x4.mul(
              i32x4.sub(code.firstPixels(of.width), i32x4.splat(of.leftmost)),
              i32x4.splat(i32.const(BLENDED_BYTES)),
            ),
          ),
        ),
        code.writeTable(of.addresses, ...code.weights),
      ),
      of.blendedEnd.set(i32.add(i32x4.lane(of.addresses, 3), i32.const(3 * BLENDED_BYTES))),
    ];

    const blendLines = [
      code.findPixels(f32x4.splat(f32.fromF64(of.y))),
      code.weights.map((weight) => weight.set(f32x4.mul(weight, of.scales))),
      of.from.set(i32.add(of.image, i32.mul(of.leftmost, i32.const(PIXEL_BYTES)))),
      of.from.set(i32.add(of.from, i32.mul(of.stride, i32x4.lane(code.firstPixels(of.height), 0)))),
      of.to.set(of.blended),
      loop(
        lines.map((line, i) => line.set(v128.load(i32.add(of.from, i32.mul(of.stride, i32.const(i)))))),
        [0, 4, 8, 12].map((first) => {
          const weighed = lines.map((line, i) =>
            f32x4.mul(f32x4.fromI32x4(v128.swizzle(line, fourFrom(first))), code.weights[i]!),
          );
          return v128.store(of.to, weighed.reduce(f32x4.add), FLOAT_BYTES * first);
        }),
        of.from.set(i32.add(of.from, i32.const(BLENDED_AT_ONCE))),
        of.to.set(i32.add(of.to, i32.const(FLOAT_BYTES * BLENDED_AT_ONCE))),
        branchIf(0, i32.lessUnsigned(of.to, of.blendedEnd)),
      ),
    ];

    const drawRow = code.eachFourColumns(
      code.drawPixels([
        of.from.set(code.numberOf(ADDRESS)),
        ACROSS.map((across, i) =>
          f32x4.mul(v128.load(of.from, i * BLENDED_BYTES), code.spreadOf(across)),
        ).reduce(f32x4.add),
      ]),
    );

    return [
      code.setConstants,
      of.scales.set(f32x4.splat(f32.mul(of.scale, f32.const(1 / AXIS_WEIGHT ** 2)))),
      fillTable,
      code.eachRow(blendLines, drawRow, of.y.set(f64.add(of.y, of.a))),
    ];
  },
});
