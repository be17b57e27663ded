import { branchIf, I32, i32, loop, v128 } from "../../wasm/code.ts";
import { compile, type WasmMemory } from "../../wasm/module.ts";

const VECTOR_BYTES = 16;

/** The four floats of a vector, the last one first. */
const REVERSED = [3, 2, 1, 0].flatMap((float) => [0, 1, 2, 3].map((byte) => 4 * float + byte));

/** Copies so many rows of floats from one address to another, each from its last float to its first. */
export type Mirror = (from: number, to: number, rowBytes: number, rows: number) => void;

/** The function over some memory; rows are a multiple of 16 bytes long. */
export const mirrorIn: (memory: WasmMemory) => Mirror = compile({
  parameters: { from: I32, to: I32, rowBytes: I32, rows: I32 },
  variables: { source: I32 },
  code: (of) => {
    const reversed = v128.shuffle(v128.load(of.source), v128.zero, REVERSED);
    return loop(
      of.source.set(i32.add(of.from, of.rowBytes)),
      loop(
        of.source.set(i32.sub(of.source, i32.const(VECTOR_BYTES))),
        v128.store(of.to, reversed),
        of.to.set(i32.add(of.to, i32.const(VECTOR_BYTES))),
        branchIf(0, i32.ne(of.source, of.from)),
      ),
      of.from.set(i32.add(of.from, of.rowBytes)),
      branchIf(0, of.rows.tee(i32.sub(of.rows, i32.const(1)))),
    );
  },
});
