import {
  branchIf,
  type Code,
  choose,
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

/** Coefficients and samples on a side of a block. */
export const BLOCK_SIDE = 8;

const ROW_BYTES = 2 * BLOCK_SIDE;

/** What the coefficients of a block take. */
export const BLOCK_BYTES = ROW_BYTES * BLOCK_SIDE;

/** Samples are around this, coefficients around zero. */
const MIDDLE = 128;

/** Bits after the point: of the factors, and of what the first pass leaves. A whole block adds three. */
const FACTOR_BITS = 13;
const PASS_BITS = 2;
const BLOCK_BITS = 3;

/** What the two numbers of a pair are multiplied by for each sum: products of cosines. */
const FACTORS = {
  even0: [8192, 8192],
  even1: [8192, -8192],
  even2: [4433, 4433 - 15137],
  even3: [4433 + 6270, 4433],
  shared0: [9633 - 16069, 9633],
  shared1: [9633, 9633 - 3196],
  odd0: [2446 - 7373, -7373],
  odd1: [16819 - 20995, -20995],
  odd2: [-20995, 25172 - 20995],
  odd3: [-7373, 12299 - 7373],
} as const;

type Sum = keyof typeof FACTORS;

const SUMS = Object.keys(FACTORS) as Sum[];
const factorsOf = <Name extends Sum>(sum: Name) => `${sum}Factors` as const;

const ROWS = ["row0", "row1", "row2", "row3", "row4", "row5", "row6", "row7"] as const;
const HALVES = ["half0", "half1", "half2", "half3", "half4", "half5", "half6", "half7"] as const;
const LEVELS = ["level0", "level1", "level2", "level3"] as const;

/**
 * Makes samples of blocks of coefficients, and sets these to zero. So many blocks lie `blockStep` bytes apart; their
 * samples go `toStep` bytes apart, and have `stride` bytes from line to line. The sums are those of libjpeg's accurate
 * transform, in the same whole numbers, so that the samples are the same.
 */
export type Transform = (
  blocks: number,
  blockStep: number,
  count: number,
  to: number,
  toStep: number,
  stride: number,
) => void;

/** The function over some memory. */
export const transformIn: (memory: WasmMemory) => Transform = compile({
  parameters: { blocks: I32, blockStep: I32, count: I32, to: I32, toStep: I32, stride: I32 },
  variables: {
    line: I32,
    pair: V128,
    firstRounding: V128,
    secondRounding: V128,
    ...vectors(ROWS),
    ...vectors(HALVES),
    ...vectors(LEVELS),
    ...vectors(SUMS),
    ...vectors(SUMS.map(factorsOf)),
  },
  code: (of) => {
    const rows = ROWS.map((name) => of[name]);
    const halves = HALVES.map((name) => of[name]);
    const levels = LEVELS.map((name) => of[name]);
    const odds = [of.odd0, of.odd1, of.odd2, of.odd3];

    /** Sums of four columns, in 32 bits. */
    const findSums = (half: Half, rounding: Code): Code => {
      const pair = (one: Code, other: Code) => of.pair.set(v128.interleave(one, other, 2, half));
      const set = (sum: Sum, ...more: Code[]) =>
        of[sum].set([i32x4.dotI16x8(of.pair, of[factorsOf(sum)]), ...more].reduce(i32x4.add));
      return [
        [pair(of.row0, of.row4), set("even0", rounding), set("even1", rounding)],
        [pair(of.row2, of.row6), set("even2"), set("even3")],
        pair(i16x8.add(of.row7, of.row3), i16x8.add(of.row5, of.row1)),
        [set("shared0"), set("shared1")],
        [pair(of.row7, of.row1), set("odd0", of.shared0), set("odd3", of.shared1)],
        [pair(of.row5, of.row3), set("odd1", of.shared1), set("odd2", of.shared0)],
        of.level0.set(i32x4.add(of.even0, of.even3)),
        of.level1.set(i32x4.add(of.even1, of.even2)),
        of.level2.set(i32x4.sub(of.even1, of.even2)),
        of.level3.set(i32x4.sub(of.even0, of.even3)),
      ];
    };

    /** Transforms the columns. */
    const pass = (bits: number, rounding: Code): Code => {
      const upperRows = levels.map((level, i) => i32x4.add(level, odds[3 - i]!));
      const lowerRows = levels.map((level, i) => i32x4.sub(level, odds[3 - i]!)).reverse();
      const results = [...upperRows, ...lowerRows].map((sum) => i32x4.shiftRight(sum, i32.const(bits)));
      return [
        findSums(0, rounding),
        halves.map((half, i) => half.set(results[i]!)),
        findSums(1, rounding),
        rows.map((row, i) => row.set(i16x8.fromI32x4(halves[i]!, results[i]!))),
      ];
    };

    const transpose = [
      interleaveInto(halves, rows, 2, [0, 1, 2, 3, 4, 5, 6, 7]),
      interleaveInto(rows, halves, 4, [0, 2, 1, 3, 4, 6, 5, 7]),
      interleaveInto(halves, rows, 8, [0, 4, 1, 5, 2, 6, 3, 7]),
      rows.map((row, i) => row.set(halves[i]!)),
    ];

    const store = (...lines: Code[]): Code => [
      of.line.set(of.to),
      lines.map((twoLines) =>
        ([0, 1] as const).map((half) => [
          v128.store64(of.line, twoLines, half),
          of.line.set(i32.add(of.line, of.stride)),
        ]),
      ),
    ];

    /** As bytes, of which a vector has two rows. */
    const storeTransposed = [
      halves.slice(0, 4).map((half, i) => half.set(i8x16.fromI16x8(rows[i]!, rows[i + 4]!))),
      interleaveInto(rows.slice(0, 4), halves, 1, [0, 1, 2, 3]),
      interleaveInto(halves.slice(0, 4), rows, 2, [0, 2, 1, 3]),
      interleaveInto(rows.slice(0, 4), halves, 4, [0, 2, 1, 3]),
      store(of.row0, of.row1, of.row2, of.row3),
    ];

    /** Of a block that has its first coefficient alone. */
    const storeShade = [
      of.row0.set(v128.shuffle(of.row0, of.row0, new Array(BLOCK_SIDE).fill([0, 1]).flat())),
      of.row0.set(i16x8.add(of.row0, i16x8.splat(i32.const(2 ** (BLOCK_BITS - 1))))),
      of.row0.set(i16x8.shiftRight(of.row0, i32.const(BLOCK_BITS))),
      of.row0.set(i16x8.add(of.row0, i16x8.splat(i32.const(MIDDLE)))),
      of.row0.set(i8x16.fromI16x8(of.row0, of.row0)),
      store(of.row0, of.row0, of.row0, of.row0),
    ];

    const allButFirst = v128.const([0, 0, ...new Array<number>(14).fill(0xff)]);
    const others = [v128.and(of.row0, allButFirst), ...rows.slice(1)].reduce(v128.or);
    const firstBits = FACTOR_BITS - PASS_BITS;
    const secondBits = FACTOR_BITS + PASS_BITS + BLOCK_BITS;
    return [
      // Not in the loop: V8 makes a constant anew each time.
      SUMS.map((sum) => of[factorsOf(sum)].set(i16x8.pairs(FACTORS[sum][0], FACTORS[sum][1]))),
      of.firstRounding.set(i32x4.splat(i32.const(2 ** (firstBits - 1)))),
      of.secondRounding.set(i32x4.splat(i32.const(2 ** (secondBits - 1) + MIDDLE * 2 ** secondBits))),
      loop(
        rows.map((row, i) => row.set(v128.load(of.blocks, ROW_BYTES * i))),
        rows.map((_, i) => v128.store(of.blocks, v128.zero, ROW_BYTES * i)),
        choose(
          v128.isAnyBitSet(others),
          [
            pass(firstBits, of.firstRounding),
            transpose,
            pass(secondBits, of.secondRounding),
            storeTransposed,
          ],
          storeShade,
        ),
        of.blocks.set(i32.add(of.blocks, of.blockStep)),
        of.to.set(i32.add(of.to, of.toStep)),
        branchIf(0, of.count.tee(i32.sub(of.count, i32.const(1)))),
      ),
    ];
  },
});

function vectors<Name extends string>(names: readonly Name[]): Record<Name, typeof V128> {
  return Object.fromEntries(names.map((name) => [name, V128])) as Record<Name, typeof V128>;
}

/** Sets vectors to pairs of others, interleaved: in turn to the lower and the upper halves of the next pair in order. */
function interleaveInto(
  to: readonly Local[],
  from: readonly Local[],
  bytes: 1 | 2 | 4 | 8,
  order: readonly number[],
): Code {
  return to.map((vector, i) => {
    const half = (i % 2) as Half;
    const [one, other] = [from[order[i - half]!]!, from[order[i - half + 1]!]!];
    return vector.set(v128.interleave(one, other, bytes, half));
  });
}
