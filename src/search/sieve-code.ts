import {
  block,
  branchIf,
  type Code,
  F32,
  f32,
  f32x4,
  I32,
  i32,
  type Local,
  loop,
  V128,
  v128,
} from "../wasm/code.ts";
import { compile, type WasmMemory } from "../wasm/module.ts";

/** Numbers in a template. */
export const DIMENSIONS = 128;
/** Bytes of a template. */
export const ROW_BYTES = 4 * DIMENSIONS;

/** So many dimensions are summed between two looks at the bound; measured, and a divisor of all. */
const STRIDE = 32;
const LANES = 4;

/**
 * Of the rows from one address up to another, writes the addresses of those whose squared distance from the query
 * does not exceed the bound, each in four bytes, and returns where it stopped writing. It computes with 32 bits,
 * four dimensions at a time, and leaves a row as soon as its sum exceeds the bound.
 */
export type SieveRows = (query: number, row: number, rowsEnd: number, bound: number, found: number) => number;

/** The function over some memory. */
export const sieveIn: (memory: WasmMemory) => SieveRows = compile({
  parameters: { query: I32, row: I32, rowsEnd: I32, bound: F32, found: I32 },
  variables: { offset: I32, sum: V128, difference: V128 },
  result: I32,
  code: (of) => {
    const load = (base: Local, offset: number) => v128.load(i32.add(base, of.offset), offset);
    const addSquares = (offset: number): Code => [
      of.difference.set(f32x4.sub(load(of.row, offset), load(of.query, offset))),
      of.sum.set(f32x4.add(of.sum, f32x4.mul(of.difference, of.difference))),
    ];
    const total = [0, 1, 2, 3].map((lane) => f32x4.lane(of.sum, lane)).reduce(f32.add);
    return [
      loop(
        of.offset.set(i32.const(0)),
        of.sum.set(v128.zero),
        block(
          loop(
            Array.from({ length: STRIDE / LANES }, (_, i) => addSquares(4 * LANES * i)),
            // Out of the block, past the writing.
            branchIf(1, f32.greater(total, of.bound)),
            of.offset.set(i32.add(of.offset, i32.const(4 * STRIDE))),
            branchIf(0, i32.lessUnsigned(of.offset, i32.const(ROW_BYTES))),
          ),
          i32.store(of.found, of.row),
          of.found.set(i32.add(of.found, i32.const(4))),
        ),
        of.row.set(i32.add(of.row, i32.const(ROW_BYTES))),
        branchIf(0, i32.ne(of.row, of.rowsEnd)),
      ),
      of.found,
    ];
  },
});
