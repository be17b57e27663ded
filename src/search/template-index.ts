import type { Readable, Writable } from "node:stream";
import { DIMENSIONS } from "./assembly/constants.ts";
import { readTemplates, writeTemplates } from "./index-file.ts";
import { NearestList, type Neighbour } from "./nearest-list.ts";
import { VectorMemory } from "./vector-memory.ts";

export { IndexFileError } from "./index-file.ts";
export type { Neighbour };

/** Options of a search. */
export interface SearchOptions {
  /** Largest number of neighbours to return. Default: 1. */
  readonly k?: number;
  /** Only returns neighbours nearer than this; 0.5 means the same person. Default: no limit. */
  readonly within?: number;
}

/**
 * An in-memory index of templates (face vectors) by id. It takes 0.5 GB per million templates and holds at most 8
 * million. Searches are exact and synchronous: less than 100 ms per million templates on one core.
 */
export class TemplateIndex {
  readonly #vectors = new VectorMemory();
  readonly #ids: string[] = [];
  readonly #rowById = new Map<string, number>();
  #savesInProgress = 0;

  /** Number of templates. */
  get size(): number {
    return this.#ids.length;
  }

  has(id: string): boolean {
    return this.#rowById.has(id);
  }

  /**
   * Adds a vector of 128 numbers, stored as 32-bit floats. Replaces the template of the same id, if any. Throws
   * RangeError for another length, for numbers that are not finite, and if there is not enough memory.
   */
  add(id: string, vector: ArrayLike<number>): void {
    this.#checkNotSaving();
    const numbers = toFloats(vector);
    const row = this.#rowById.get(id) ?? this.#ids.length;
    this.#vectors.reserve(row + 1);
    this.#vectors.rows(row).set(numbers);
    this.#ids[row] = id;
    this.#rowById.set(id, row);
  }

  /** Removes a template and erases it from memory. Returns false if there is none of this id. */
  remove(id: string): boolean {
    this.#checkNotSaving();
    const row = this.#rowById.get(id);
    if (row === undefined) return false;
    // The last template takes the place of the removed one.
    const last = this.#ids.length - 1;
    const lastId = this.#ids[last]!;
    this.#vectors.rows(row).set(this.#vectors.rows(last));
    this.#vectors.rows(last).fill(0);
    this.#ids[row] = lastId;
    this.#rowById.set(lastId, row);
    this.#ids.pop();
    this.#rowById.delete(id);
    return true;
  }

  /** Returns the templates nearest to a vector of 128 numbers, nearest first. */
  nearest(
    vector: ArrayLike<number>,
    { k = 1, within = Number.POSITIVE_INFINITY }: SearchOptions = {},
  ): Neighbour[] {
    if (!Number.isInteger(k) || k < 1) throw new RangeError(`k must be a positive integer, not ${k}.`);
    const nearest = new NearestList(k, within);
    this.#vectors.scan(toFloats(vector), this.size, nearest.bound ** 2, (row, squaredDistance) => {
      nearest.offer({ id: this.#ids[row]!, distance: Math.sqrt(squaredDistance) });
      return nearest.bound ** 2;
    });
    return [...nearest.neighbours];
  }

  /**
   * Writes all templates to a stream, which it ends, or to a file, which it replaces when everything is written. Until
   * then, adding and removing templates throws.
   */
  async save(to: string | Writable): Promise<void> {
    this.#savesInProgress++;
    try {
      await writeTemplates(to, this.#ids, (from, end) => this.#vectors.rows(from, end));
    } finally {
      this.#savesInProgress--;
    }
  }

  /** Reads the templates that `save` wrote to a file or stream. Throws IndexFileError for any other content. */
  static async load(from: string | Readable): Promise<TemplateIndex> {
    const index = new TemplateIndex();
    await readTemplates(from, (id, vector) => index.add(id, vector));
    return index;
  }

  #checkNotSaving(): void {
    if (this.#savesInProgress > 0) throw new Error("The index cannot change while it is being saved.");
  }
}

function toFloats(vector: ArrayLike<number>): Float32Array {
  if (vector.length !== DIMENSIONS)
    throw new RangeError(`A template has ${DIMENSIONS} numbers, not ${vector.length}.`);
  const numbers = new Float32Array(vector);
  for (let i = 0; i < DIMENSIONS; i++)
    if (!Number.isFinite(numbers[i])) throw new RangeError("A template has only finite numbers.");
  return numbers;
}
