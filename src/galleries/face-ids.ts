import type { QuantizedTemplates } from "./quantized-templates.ts";
import { hashPerson } from "./removal-mark.ts";

/** No ids are longer, so they fit into a chunk. */
const CHUNK_BYTES = 64 * 1024;
const MIN_SLOTS = 16;
/** The hash table doubles when more of its slots are taken. */
const MAX_LOAD = 0.75;

// What the rows have in their words.
const OFFSET = 0;
const LENGTH = 1;
const HASH = 2;

/**
 * The ids of templates, as `person/face` in UTF-8, and the rows by id. A million strings and the entries of a Map and of
 * a Set would need more memory than the templates.
 */
export class FaceIds {
  readonly #templates: QuantizedTemplates;
  #chunks: Buffer[] = [];
  /** Where the next ids are written: the index of the chunk times CHUNK_BYTES and the offset in it. */
  #end = 0;
  /** Bytes of ids that are still in use. */
  #usedBytes = 0;
  /** Rows plus one by the hash of the person, or 0, with linear probing: the faces of a person are near each other. */
  #slots = new Uint32Array(MIN_SLOTS);

  /** @param templates the rows, which must not be added or removed by others. */
  constructor(templates: QuantizedTemplates) {
    this.#templates = templates;
  }

  /** Memory of the ids. */
  get bytes(): number {
    return this.#end + this.#slots.byteLength;
  }

  /** Returns the ids of a row. */
  idsOf(row: number): { readonly personId: string; readonly faceId: string } {
    const [personId, faceId] = this.#bytesOf(row).toString().split("/") as [string, string];
    return { personId, faceId };
  }

  /** Returns the row with these ids, which is added if there is none. */
  rowFor(ids: Buffer): number {
    const hash = hashPerson(ids);
    const existing = this.findRow(hash, (own) => own.equals(ids));
    if (existing !== undefined) return existing;
    const row = this.#templates.push();
    this.#write(row, ids);
    this.#templates.setWord(row, HASH, hash);
    if (this.#templates.size > MAX_LOAD * this.#slots.length) this.#rebuildSlots(2 * this.#slots.length);
    else this.#takeSlot(row);
    return row;
  }

  /** Finds a row by the hash of its person and a condition for its ids. */
  findRow(hash: number, isWanted: (ids: Buffer) => boolean): number | undefined {
    for (let slot = this.#home(hash); this.#slots[slot]! > 0; slot = this.#next(slot)) {
      const row = this.#slots[slot]! - 1;
      if (this.#templates.word(row, HASH) === hash && isWanted(this.#bytesOf(row))) return row;
    }
    return undefined;
  }

  /** Removes a row with its template. The last row takes its place. */
  remove(row: number): void {
    const last = this.#templates.size - 1;
    this.#usedBytes -= this.#bytesOf(row).fill(0).length;
    this.#releaseSlot(this.#slotOf(row));
    if (row !== last) this.#slots[this.#slotOf(last)] = row + 1;
    this.#templates.remove(row);
    if (this.#end > 2 * (this.#usedBytes + CHUNK_BYTES)) this.#compact();
  }

  #bytesOf(row: number): Buffer {
    const offset = this.#templates.word(row, OFFSET);
    const start = offset % CHUNK_BYTES;
    return this.#chunks[Math.floor(offset / CHUNK_BYTES)]!.subarray(
      start,
      start + this.#templates.word(row, LENGTH),
    );
  }

  #write(row: number, ids: Buffer): void {
    const rest = this.#chunks.length * CHUNK_BYTES - this.#end;
    if (ids.length > rest) {
      this.#end += rest;
      this.#chunks.push(Buffer.allocUnsafeSlow(CHUNK_BYTES));
    }
    ids.copy(this.#chunks.at(-1)!, this.#end % CHUNK_BYTES);
    this.#templates.setWord(row, OFFSET, this.#end);
    this.#templates.setWord(row, LENGTH, ids.length);
    this.#end += ids.length;
    this.#usedBytes += ids.length;
  }

  /** Leaves out the bytes of removed ids. */
  #compact(): void {
    const ids = Array.from({ length: this.#templates.size }, (_, row) => this.#bytesOf(row));
    [this.#chunks, this.#end, this.#usedBytes] = [[], 0, 0];
    for (const [row, bytes] of ids.entries()) this.#write(row, bytes);
  }

  #home(hash: number): number {
    return hash & (this.#slots.length - 1);
  }

  #next(slot: number): number {
    return (slot + 1) & (this.#slots.length - 1);
  }

  #slotOf(row: number): number {
    let slot = this.#home(this.#templates.word(row, HASH));
    while (this.#slots[slot] !== row + 1) slot = this.#next(slot);
    return slot;
  }

  #takeSlot(row: number): void {
    let slot = this.#home(this.#templates.word(row, HASH));
    while (this.#slots[slot]! > 0) slot = this.#next(slot);
    this.#slots[slot] = row + 1;
  }

  /** Empties a slot, and moves later ones up that would not be found beyond it. */
  #releaseSlot(slot: number): void {
    const distance = (from: number, to: number) => (to - from) & (this.#slots.length - 1);
    let hole = slot;
    for (let next = this.#next(slot); this.#slots[next]! > 0; next = this.#next(next)) {
      const home = this.#home(this.#templates.word(this.#slots[next]! - 1, HASH));
      if (distance(home, next) < distance(hole, next)) continue;
      this.#slots[hole] = this.#slots[next]!;
      hole = next;
    }
    this.#slots[hole] = 0;
  }

  #rebuildSlots(length: number): void {
    this.#slots = new Uint32Array(length);
    for (let row = 0; row < this.#templates.size; row++) this.#takeSlot(row);
  }
}
