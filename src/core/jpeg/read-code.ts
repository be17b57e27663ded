import { block, branchIf, type Code, choose, I32, I64, i32, i64, loop } from "../../wasm/code.ts";
import { compile, type WasmMemory } from "../../wasm/module.ts";
import { COEFFICIENTS } from "./layout.ts";
import { END_STEP, ENTRY, FAULT_STEP, LONG_ENTRIES, SHORT_BITS, SHORT_ENTRIES } from "./lookup.ts";
import { BLOCK_BYTES } from "./transform-code.ts";

/**
 * Copies data back to front, to the bytes before `top`, so that many bits can be read as one number. The zero that
 * stands after each 0xff is left out; one without it begins a marker, and is the last that is copied. Gives the address
 * of the last one.
 */
export type Reverse = (data: number, end: number, top: number) => number;

/** The function over some memory. */
export const reverseIn: (memory: WasmMemory) => Reverse = compile({
  parameters: { data: I32, end: I32, top: I32 },
  variables: { byte: I32 },
  result: I32,
  code: (of) => [
    block(
      loop(
        of.top.set(i32.sub(of.top, i32.const(1))),
        i32.storeByte(of.top, of.byte.tee(i32.loadByte(of.data))),
        choose(i32.eq(of.byte, i32.const(0xff)), [
          of.data.set(i32.add(of.data, i32.const(1))),
          branchIf(2, i32.loadByte(of.data)),
        ]),
        of.data.set(i32.add(of.data, i32.const(1))),
        branchIf(0, i32.lessUnsigned(of.data, of.end)),
      ),
    ),
    of.top,
  ],
});

/** One block of a unit in memory, in words: addresses of its tables and scales, and of the last block's first coefficient. */
export const PART = { first: 0, others: 4, scales: 8, last: 12, bytes: 16 };

/** One coefficient of a table of scales: its place in a block in bytes, and its scale, of 16 bits each. */
export const SCALE = { place: 0, scale: 2, bytes: 4 };

/** The most that a code and a number take, and the least that is known of what is ahead once it is read. */
const MOST_BITS = 16 + 11;
const KNOWN_BITS = 64 - 7;

/**
 * Reads the blocks of so many units, which have the same parts, one after another; all coefficients are zero before.
 * `top` is the end of the data, and `position` how many of its bits were read. Gives how many are after it, or -1 if
 * there is no sense in them; it may then have read on.
 */
export type ReadBlocks = (
  top: number,
  position: number,
  parts: number,
  partsEnd: number,
  blocks: number,
  units: number,
) => number;

/** The function over some memory. */
export const readBlocksIn: (memory: WasmMemory) => ReadBlocks = compile({
  parameters: { top: I32, position: I32, parts: I32, partsEnd: I32, blocks: I32, units: I32 },
  variables: {
    // What is ahead, from the highest bit on, and how much of it is known.
    window: I64,
    known: I32,
    part: I32,
    table: I32,
    leastLong: I32,
    ahead: I32,
    entry: I32,
    length: I32,
    size: I32,
    number: I32,
    // The coefficient after the last that was read.
    index: I32,
    scales: I32,
    scale: I32,
    isFaulty: I32,
  },
  result: I32,
  code: (of) => {
    const highest = (window: Code, bits: Code) =>
      i32.fromI64(i64.shiftRightUnsigned(window, i64.fromI32(i32.sub(i32.const(64), bits))));
    const powerOfTwo = (exponent: Code) => i32.shiftLeft(i32.const(1), exponent);
    const word = (address: Code, index: Code, offset: number) =>
      i32.load(i32.add(address, i32.mul(index, i32.const(4))), 4 * offset);

    const setTable = (offset: number): Code => [
      of.table.set(i32.load(of.part, offset)),
      of.leastLong.set(i32.load(of.table)),
    ];

    const lookAhead: Code = choose(i32.less(of.known, i32.const(MOST_BITS)), [
      of.window.set(
        i64.shiftLeft(
          i64.load(i32.sub(of.top, i32.shiftRightUnsigned(of.position, i32.const(3)))),
          i64.fromI32(i32.and(of.position, i32.const(7))),
        ),
      ),
      of.known.set(i32.const(KNOWN_BITS)),
    ]);

    const setEntry: Code = [
      of.ahead.set(highest(of.window, i32.const(16))),
      choose(
        i32.less(of.ahead, of.leastLong),
        of.entry.set(word(of.table, highest(of.window, i32.const(SHORT_BITS)), SHORT_ENTRIES)),
        of.entry.set(word(of.table, i32.sub(of.ahead, of.leastLong), LONG_ENTRIES)),
      ),
    ];

    /** The number after a code; one that begins with a zero is negative. */
    const readNumber: Code = [
      of.number.set(highest(i64.shiftLeft(of.window, i64.fromI32(i32.sub(of.length, of.size))), of.size)),
      choose(
        i32.less(of.number, powerOfTwo(i32.sub(of.size, i32.const(1)))),
        of.number.set(i32.add(i32.sub(of.number, powerOfTwo(of.size)), i32.const(1))),
      ),
    ];

    const field = (shift: number, mask: number) =>
      i32.and(i32.shiftRightUnsigned(of.entry, i32.const(shift)), i32.const(mask));
    const step = field(ENTRY.stepShift, ENTRY.stepMask);
    const readCode: Code = [
      lookAhead,
      setEntry,
      of.length.set(i32.and(of.entry, i32.const(ENTRY.lengthMask))),
      of.number.set(i32.shiftRight(of.entry, i32.const(ENTRY.numberShift))),
      choose(of.size.tee(field(ENTRY.sizeShift, ENTRY.sizeMask)), readNumber),
      of.position.set(i32.add(of.position, of.length)),
      of.known.set(i32.sub(of.known, of.length)),
      of.window.set(i64.shiftLeft(of.window, i64.fromI32(of.length))),
    ];

    const setFaultyIf = (condition: Code) => of.isFaulty.set(i32.or(of.isFaulty, condition));

    /** Stored as a difference to that of the component's last block. */
    const readFirst: Code = [
      setTable(PART.first),
      readCode,
      setFaultyIf(i32.eq(step, i32.const(FAULT_STEP))),
      of.number.set(i32.add(of.number, i32.load(i32.load(of.part, PART.last)))),
      i32.store(i32.load(of.part, PART.last), of.number),
      i32.store16(of.blocks, i32.mul(of.number, i32.load16(of.scales, SCALE.scale))),
    ];

    const readOthers: Code = [
      setTable(PART.others),
      of.index.set(i32.const(1)),
      block(
        loop(
          readCode,
          of.index.set(i32.add(of.index, step)),
          branchIf(1, i32.less(i32.const(COEFFICIENTS), of.index)),
          of.scale.set(i32.add(of.scales, i32.mul(i32.sub(of.index, i32.const(1)), i32.const(SCALE.bytes)))),
          i32.store16(
            i32.add(of.blocks, i32.load16(of.scale, SCALE.place)),
            i32.mul(of.number, i32.load16(of.scale, SCALE.scale)),
          ),
          branchIf(0, i32.less(of.index, i32.const(COEFFICIENTS))),
        ),
      ),
      // Steps beyond the last that do not say that the block ends.
      setFaultyIf(
        i32.and(i32.less(i32.const(COEFFICIENTS), of.index), i32.less(of.index, i32.const(1 + END_STEP))),
      ),
    ];

    return [
      of.top.set(i32.sub(of.top, i32.const(8))),
      loop(
        of.part.set(of.parts),
        loop(
          of.scales.set(i32.load(of.part, PART.scales)),
          readFirst,
          readOthers,
          of.blocks.set(i32.add(of.blocks, i32.const(BLOCK_BYTES))),
          of.part.set(i32.add(of.part, i32.const(PART.bytes))),
          branchIf(0, i32.lessUnsigned(of.part, of.partsEnd)),
        ),
        branchIf(0, of.units.tee(i32.sub(of.units, i32.const(1)))),
      ),
      choose(of.isFaulty, of.position.set(i32.const(-1))),
      of.position,
    ];
  },
});
