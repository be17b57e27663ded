import type { Readable, Writable } from "node:stream";
import { DIMENSIONS } from "./assembly/constants.ts";
import { readTemplates, writeTemplates } from "./index-file.ts";
import { NearestList, type Neighbour } from "./nearest-list.ts";
import { Sieve } from "./sieve.ts";

export { IndexFileError } from "./index-file.ts";
export type { Neighbour };

/** What to look for. */
export interface SearchOptions {
  /** How many neighbours at most; one if it is not given. */
  readonly k?: number;
  /** Only those nearer than this; 0.5 gives the same person. Without it, the nearest however far they are. */
  readonly within?: number;
}

/**
 * Templates by id in plain memory, 0.5 GB a million, at most 8 million. Searches are exact, and block the thread:
 * under 100 ms a million on one core.
 */
export class TemplateIndex {
  readonly #sieve = new Sieve();
  readonly #ids: string[] = [];
  readonly #rowOf = new Map<string, number>();
  #saves = 0;

  /** How many templates there are. */
  get size(): number {
    return this.#ids.length;
  }

  /** Tells whether there is a template of an id. */
  has(id: string): boolean {
    return this.#rowOf.has(id);
  }

  /** Keeps a vector of 128 numbers, as 32-bit floats, in place of the one that the id had before, if any. */
  add(id: string, vector: ArrayLike<number>): void {
    this.#refuseWhileSaving();
    const numbers = numbersOf(vector);
    const row = this.#rowOf.get(id) ?? this.#ids.length;
    this.#sieve.reserve(row + 1);
    this.#sieve.rows(row).set(numbers);
    this.#ids[row] = id;
    this.#rowOf.set(id, row);
  }

  /** Forgets a template; tells whether there was one. */
  remove(id: string): boolean {
    this.#refuseWhileSaving();
    const row = this.#rowOf.get(id);
    if (row === undefined) return false;
    // The last one moves into the gap, and its old place is wiped: what is removed is gone from memory.
    const last = this.#ids.length - 1;
    const lastId = this.#ids[last]!;
    this.#sieve.rows(row).set(this.#sieve.rows(last));
    this.#sieve.rows(last).fill(0);
    this.#ids[row] = lastId;
    this.#rowOf.set(lastId, row);
    this.#ids.pop();
    this.#rowOf.delete(id);
    return true;
  }

  /** The nearest templates to a vector of 128 numbers, nearest first. */
  nearest(
    vector: ArrayLike<number>,
    { k = 1, within = Number.POSITIVE_INFINITY }: SearchOptions = {},
  ): Neighbour[] {
    if (!Number.isInteger(k) || k < 1) throw new RangeError(`k must be a whole number above 0, not ${k}`);
    const nearest = new NearestList(k, within);
    this.#sieve.visit(numbersOf(vector), this.size, nearest.bound ** 2, (row, squared) => {
      nearest.offer({ id: this.#ids[row]!, distance: Math.sqrt(squared) });
      return nearest.bound ** 2;
    });
    return [...nearest.neighbours];
  }

  /**
   * Writes all templates to a stream, which it ends, or to a file, which is replaced only once all is written.
   * Until then templates can be neither added nor removed.
   */
  async save(to: string | Writable): Promise<void> {
    this.#saves++;
    try {
      await writeTemplates(to, this.#ids, (from, end) => this.#sieve.rows(from, end));
    } finally {
      this.#saves--;
    }
  }

  /** Reads templates from a file or stream that `save` has written; throws IndexFileError where it has not. */
  static async load(from: string | Readable): Promise<TemplateIndex> {
    const index = new TemplateIndex();
    await readTemplates(from, (id, vector) => index.add(id, vector));
    return index;
  }

  #refuseWhileSaving(): void {
    if (this.#saves > 0) throw new Error("the index is being saved and cannot change");
  }
}

function numbersOf(vector: ArrayLike<number>): Float32Array {
  if (vector.length !== DIMENSIONS)
    throw new RangeError(`a template has ${DIMENSIONS} numbers, not ${vector.length}`);
  const numbers = new Float32Array(vector);
  for (let i = 0; i < DIMENSIONS; i++)
    if (!Number.isFinite(numbers[i])) throw new RangeError("a template has finite numbers only");
  return numbers;
}
