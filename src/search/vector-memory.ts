import { DIMENSIONS, TEMPLATE_BYTES } from "./assembly/constants.ts";
import { instantiate } from "./kernels.wasm.js";

const PAGE_BYTES = 64 * 1024;

/** The memory doubles until it is 16 MiB, or 32,768 vectors, and then grows by as much at a time. */
const MAX_GROWTH_PAGES = 256;

/** Vectors per call of the kernel. The addresses of that many matches fit into the first page, after the query. */
const BATCH_SIZE = 1024;

// The layout of the memory. The query and the matches are in the first page.
const QUERY_ADDRESS = 0;
const MATCHES_ADDRESS = QUERY_ADDRESS + TEMPLATE_BYTES;
const VECTORS_ADDRESS = PAGE_BYTES;

/** Exceeds the relative error of the kernel, which adds up in 32 bits. */
const ROUNDING_MARGIN = 1 + 1e-5;

/** Stores vectors of 128 numbers by row, and scans them for those near a query. At most 8 million vectors. */
export class VectorMemory {
  readonly #kernels = instantiate(VECTORS_ADDRESS);
  #numbers = new Float32Array(this.#kernels.memory.buffer);
  #addresses = new Uint32Array(this.#kernels.memory.buffer);

  /** A view of the vectors in rows `from` to `end` (excluded). It is valid until the next `reserve`. */
  rows(from: number, end = from + 1): Float32Array<ArrayBuffer> {
    return this.#numbers.subarray(rowStart(from), rowStart(end));
  }

  /** Makes room for `count` rows. Throws RangeError if there is not enough memory. */
  reserve(count: number): void {
    const missing = rowStart(count) - this.#numbers.length;
    if (missing <= 0) return;
    const pages = this.#numbers.byteLength / PAGE_BYTES;
    this.#kernels.memory.grow(
      Math.max(Math.ceil((4 * missing) / PAGE_BYTES), Math.min(pages, MAX_GROWTH_PAGES)),
    );
    this.#numbers = new Float32Array(this.#kernels.memory.buffer);
    this.#addresses = new Uint32Array(this.#kernels.memory.buffer);
  }

  /**
   * Scans the first `count` rows for vectors within a squared distance of the query, and reports each with its exact
   * squared distance. `onCandidate` returns the bound from then on. Some candidates may exceed the bound.
   */
  scan(
    query: Float32Array,
    count: number,
    squaredBound: number,
    onCandidate: (row: number, squaredDistance: number) => number,
  ): void {
    this.#numbers.set(query, QUERY_ADDRESS);
    let bound = squaredBound;
    for (let row = 0; row < count; row += BATCH_SIZE) {
      const start = 4 * rowStart(row);
      const end = 4 * rowStart(Math.min(row + BATCH_SIZE, count));
      const matchesEnd = this.#kernels.findCandidates(
        QUERY_ADDRESS,
        start,
        end,
        bound * ROUNDING_MARGIN,
        MATCHES_ADDRESS,
      );
      for (const address of this.#addresses.subarray(MATCHES_ADDRESS / 4, matchesEnd / 4)) {
        const match = (address - VECTORS_ADDRESS) / TEMPLATE_BYTES;
        bound = onCandidate(match, this.#squaredDistance(match));
      }
    }
  }

  /** The squared distance between the query and a row, in 64 bits. */
  #squaredDistance(row: number): number {
    const numbers = this.#numbers;
    let sum = 0;
    for (let i = 0, at = rowStart(row); i < DIMENSIONS; i++, at++) sum += (numbers[at]! - numbers[i]!) ** 2;
    return sum;
  }
}

/** Index of a row's first number. */
function rowStart(row: number): number {
  return VECTORS_ADDRESS / 4 + row * DIMENSIONS;
}
