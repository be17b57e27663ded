import { DIMENSIONS, TEMPLATE_BYTES } from "./assembly/constants.ts";
import { instantiate } from "./kernels.wasm.js";

const PAGE_BYTES = 65_536;

/** Memory grows by so many pages at once: 16 MiB, or 32,768 rows. */
const GROWTH_PAGES = 256;
/** Rows that are sieved at once. Their addresses fit into the first page, behind the query. */
const BATCH_ROWS = 1024;
const QUERY_ADDRESS = 0;
const FOUND_ADDRESS = TEMPLATE_BYTES;
const ROWS_ADDRESS = PAGE_BYTES;
/** More than sums of 32 bits can differ from the true ones. */
const SLACK = 1 + 1e-5;

/** Rows of 128 numbers in memory of their own, and a fast way to those near a query. At most 8 million rows. */
export class Sieve {
  readonly #kernels = instantiate(ROWS_ADDRESS);
  #numbers = new Float32Array(this.#kernels.memory.buffer);
  #addresses = new Uint32Array(this.#kernels.memory.buffer);

  /** The numbers of some rows, not copied: they are valid until memory grows. */
  rows(from: number, to = from + 1): Float32Array<ArrayBuffer> {
    return this.#numbers.subarray(indexOf(from), indexOf(to));
  }

  /** Makes memory for so many rows; throws RangeError where there is no more. */
  reserve(count: number): void {
    if (indexOf(count) <= this.#numbers.length) return;
    const missing = Math.ceil((4 * (indexOf(count) - this.#numbers.length)) / PAGE_BYTES);
    this.#kernels.memory.grow(Math.max(missing, GROWTH_PAGES));
    this.#numbers = new Float32Array(this.#kernels.memory.buffer);
    this.#addresses = new Uint32Array(this.#kernels.memory.buffer);
  }

  /**
   * Visits, of the first so many rows, each that may lie within a squared distance of the query, with its true
   * squared distance. What a visit returns is the bound from then on, which some rows beyond may still pass.
   */
  visit(
    query: Float32Array,
    count: number,
    bound: number,
    visit: (row: number, squared: number) => number,
  ): void {
    this.#numbers.set(query, QUERY_ADDRESS);
    let least = bound;
    for (let start = 0; start < count; start += BATCH_ROWS) {
      const end = Math.min(start + BATCH_ROWS, count);
      const [first, last] = [start, end].map((row) => 4 * indexOf(row)) as [number, number];
      const foundEnd = this.#kernels.findCandidates(QUERY_ADDRESS, first, last, least * SLACK, FOUND_ADDRESS);
      for (let found = FOUND_ADDRESS / 4; found < foundEnd / 4; found++) {
        const row = (this.#addresses[found]! - ROWS_ADDRESS) / TEMPLATE_BYTES;
        least = visit(row, this.#squaredDistance(row));
      }
    }
  }

  #squaredDistance(row: number): number {
    const numbers = this.#numbers;
    let sum = 0;
    for (let i = 0, at = indexOf(row); i < DIMENSIONS; i++, at++) sum += (numbers[at]! - numbers[i]!) ** 2;
    return sum;
  }
}

/** Where a row begins among all numbers. */
function indexOf(row: number): number {
  return ROWS_ADDRESS / 4 + row * DIMENSIONS;
}
