import {
  DIMENSIONS,
  NORM_OFFSET,
  QUANTIZED_BYTES,
  QUANTIZED_SCALE,
  TEMPLATE_BYTES,
} from "../search/assembly/constants.ts";
import { instantiate } from "../search/kernels.wasm.js";

const PAGE_BYTES = 64 * 1024;
/** The memory doubles until it is 16 MiB and then grows by as much at a time. It is never copied. */
const MAX_GROWTH_PAGES = 256;

// The layout of the memory. What is before the templates is in the first page.
const INPUT_ADDRESS = 0;
const QUERY_ADDRESS = INPUT_ADDRESS + TEMPLATE_BYTES;
const MATCHES_ADDRESS = QUERY_ADDRESS + QUANTIZED_BYTES;
const TEMPLATES_ADDRESS = PAGE_BYTES;
/** Templates per call of the kernel. The addresses of that many matches fit into the first page. */
const BATCH_SIZE = 8 * 1024;

/**
 * The largest distance between a template and its integers, relative to its norm: every integer is off by at most a half.
 * Rounded up for the arithmetic in 32 bits.
 */
const MAX_RELATIVE_ERROR = (1.01 * Math.sqrt(DIMENSIONS)) / 2 / QUANTIZED_SCALE;
/**
 * The kernel multiplies integers of two vectors, each with this error; twice the product is in the squared distance.
 * Rounded up for its arithmetic in 32 bits.
 */
const DOT_MARGIN = 2 * 2 * 1.1 * MAX_RELATIVE_ERROR;
const ROUNDING_MARGIN = 1e-5;

/**
 * Stores templates of 128 numbers by row, as integers of 16 bits and a norm: 272 bytes instead of 512. Distances to
 * them are within `maxError` of the exact ones. At most 15 million templates.
 */
export class QuantizedTemplates {
  readonly #kernels = instantiate(TEMPLATES_ADDRESS);
  #integers = new Int16Array(this.#kernels.memory.buffer);
  #floats = new Float32Array(this.#kernels.memory.buffer);
  #words = new Uint32Array(this.#kernels.memory.buffer);
  #size = 0;
  /** The largest number of templates so far. */
  #maxSize = 0;
  #maxNorm = 0;

  /** Number of templates. */
  get size(): number {
    return this.#size;
  }

  /** Memory of the templates. What removed ones have used is not released. */
  get bytes(): number {
    return this.#maxSize * QUANTIZED_BYTES;
  }

  /** The largest difference between the distance to a template and the exact one. */
  get maxError(): number {
    return MAX_RELATIVE_ERROR * this.#maxNorm;
  }

  /** Adds a row. It has no template and its words are 0. Throws RangeError if there is not enough memory. */
  push(): number {
    const row = this.#size++;
    this.#reserve(this.#size);
    this.#maxSize = Math.max(this.#maxSize, this.#size);
    return row;
  }

  /** Sets the template of a row to the 128 numbers that start at an index. */
  setTemplate(row: number, numbers: Float32Array, start: number): void {
    const norm = this.#quantize(numbers.subarray(start, start + DIMENSIONS), addressOf(row));
    this.#maxNorm = Math.max(this.#maxNorm, norm);
  }

  /** Returns a word of a row. */
  word(row: number, index: number): number {
    return this.#words[wordAt(row, index)]!;
  }

  setWord(row: number, index: number, value: number): void {
    this.#words[wordAt(row, index)] = value;
  }

  /** Removes a row and erases its template. The last row takes its place. */
  remove(row: number): void {
    const last = --this.#size;
    const [to, from] = [addressOf(row) / 4, addressOf(last) / 4];
    this.#words.copyWithin(to, from, from + QUANTIZED_BYTES / 4);
    this.#words.fill(0, from, from + QUANTIZED_BYTES / 4);
  }

  /**
   * Scans all rows for templates within a distance of a query, and reports each with its distance. `onCandidate` returns
   * the bound from then on. Some candidates may exceed the bound.
   */
  scan(query: Float32Array, bound: number, onCandidate: (row: number, distance: number) => number): void {
    const norm = this.#quantize(query, QUERY_ADDRESS);
    const factor = (2 * norm) / QUANTIZED_SCALE ** 2;
    const margin = DOT_MARGIN * norm;
    let limit = bound;
    for (let row = 0; row < this.#size; row += BATCH_SIZE) {
      const exactLimit = limit + this.maxError;
      const matchesEnd = this.#kernels.findQuantized(
        QUERY_ADDRESS,
        addressOf(row),
        addressOf(Math.min(row + BATCH_SIZE, this.#size)),
        factor,
        margin + ROUNDING_MARGIN * this.#maxNorm,
        exactLimit ** 2 - norm ** 2 + ROUNDING_MARGIN * (exactLimit ** 2 + norm ** 2),
        MATCHES_ADDRESS,
      );
      for (const address of this.#words.subarray(MATCHES_ADDRESS / 4, matchesEnd / 4)) {
        const distance = this.#distance(query, address);
        if (distance <= limit) limit = onCandidate((address - TEMPLATES_ADDRESS) / QUANTIZED_BYTES, distance);
      }
    }
  }

  /** Writes the integers and the norm of a vector to an address. Returns the norm. */
  #quantize(numbers: Float32Array, address: number): number {
    this.#floats.set(numbers, INPUT_ADDRESS / 4);
    this.#kernels.quantize(INPUT_ADDRESS, address);
    return this.#floats[(address + NORM_OFFSET) / 4]!;
  }

  /** The distance between the query and the integers of a template, in 64 bits. */
  #distance(query: Float32Array, address: number): number {
    const unit = this.#floats[(address + NORM_OFFSET) / 4]! / QUANTIZED_SCALE;
    let sum = 0;
    for (let i = 0, at = address / 2; i < DIMENSIONS; i++, at++) {
      const difference = query[i]! - unit * this.#integers[at]!;
      sum += difference * difference;
    }
    return Math.sqrt(sum);
  }

  #reserve(count: number): void {
    const { memory } = this.#kernels;
    const missing = addressOf(count) - this.#words.byteLength;
    if (missing <= 0) return;
    const pages = this.#words.byteLength / PAGE_BYTES;
    memory.grow(Math.max(Math.ceil(missing / PAGE_BYTES), Math.min(pages, MAX_GROWTH_PAGES)));
    this.#integers = new Int16Array(memory.buffer);
    this.#floats = new Float32Array(memory.buffer);
    this.#words = new Uint32Array(memory.buffer);
  }
}

function addressOf(row: number): number {
  return TEMPLATES_ADDRESS + row * QUANTIZED_BYTES;
}

function wordAt(row: number, index: number): number {
  return (addressOf(row) + NORM_OFFSET) / 4 + 1 + index;
}
