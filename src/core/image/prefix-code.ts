import type { BitReader } from "./bit-reader.ts";

/** The longest code of VP8L. */
const MAX_CODE_LENGTH = 15;
/** Room for a length in an entry of the table. */
const LENGTH_BITS = 4;
const LENGTH_MASK = (1 << LENGTH_BITS) - 1;

/** A canonical prefix code (Huffman code) of VP8L. */
export class PrefixCode {
  readonly #maxLength: number;
  /** By the next bits: the symbol and the length of its code. */
  readonly #table: Uint32Array;

  /** Builds the code from the length of each symbol's code. Throws RangeError if it is not complete. */
  constructor(lengths: Uint8Array) {
    const used = lengths.reduce((count, length) => count + Number(length > 0), 0);
    // The code of a single symbol has no bits.
    const isSingle = used === 1;
    this.#maxLength = isSingle ? 0 : lengths.reduce((max, length) => Math.max(max, length), 0);
    this.#table = new Uint32Array(1 << this.#maxLength);
    if (isSingle) this.#table[0] = lengths.findIndex((length) => length > 0) << LENGTH_BITS;
    else this.#fill(lengths);
  }

  #fill(lengths: Uint8Array): void {
    const maxLength = this.#maxLength;
    let code = 0;
    for (let length = 1; length <= maxLength; length++) {
      code <<= 1;
      for (let symbol = 0; symbol < lengths.length; symbol++) {
        if (lengths[symbol] !== length) continue;
        if (code >> length > 0) throw new RangeError("Prefix code is over-subscribed");
        const entry = (symbol << LENGTH_BITS) | length;
        // Codes are read from their most significant bit, other numbers from their least significant one.
        for (let at = reverseBits(code++, length); at < 1 << maxLength; at += 1 << length)
          this.#table[at] = entry;
      }
    }
    if (maxLength === 0 || code !== 1 << maxLength) throw new RangeError("Prefix code is incomplete");
  }

  /** Reads a symbol. */
  read(bits: BitReader): number {
    // Without this, a file of 46 bytes takes half a second.
    if (this.#maxLength === 0) return this.#table[0]! >> LENGTH_BITS;
    const entry = this.#table[bits.peek(this.#maxLength)]!;
    bits.skip(entry & LENGTH_MASK);
    return entry >> LENGTH_BITS;
  }
}

function reverseBits(value: number, count: number): number {
  let reversed = 0;
  for (let i = 0; i < count; i++) reversed |= ((value >> i) & 1) << (count - 1 - i);
  return reversed;
}

/** The order in which the lengths of the code of lengths are written. */
const LENGTH_ORDER = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
/** The symbols 16, 17 and 18: the bits of the repeat count, and the smallest one. */
const REPEATS = [
  { bits: 2, min: 3 },
  { bits: 3, min: 3 },
  { bits: 7, min: 11 },
] as const;
const REPEAT_PREVIOUS = 16;
const DEFAULT_LENGTH = 8;

/** Reads a prefix code for `size` symbols. Throws RangeError if it is invalid. */
export function readPrefixCode(bits: BitReader, size: number): PrefixCode {
  const isSimple = bits.read(1) === 1;
  return new PrefixCode(isSimple ? readSimpleLengths(bits, size) : readLengths(bits, size));
}

function readSimpleLengths(bits: BitReader, size: number): Uint8Array {
  const lengths = new Uint8Array(size);
  const hasTwo = bits.read(1) === 1;
  const isFirstLong = bits.read(1) === 1;
  setLength(lengths, bits.read(isFirstLong ? 8 : 1));
  if (hasTwo) setLength(lengths, bits.read(8));
  return lengths;
}

function setLength(lengths: Uint8Array, symbol: number): void {
  if (symbol >= lengths.length) throw new RangeError("Prefix code has a symbol outside its alphabet");
  lengths[symbol] = 1;
}

function readLengths(bits: BitReader, size: number): Uint8Array {
  const lengthsOfLengths = new Uint8Array(LENGTH_ORDER.length);
  const count = bits.read(4) + 4;
  for (const symbol of LENGTH_ORDER.slice(0, count)) lengthsOfLengths[symbol] = bits.read(3);
  const code = new PrefixCode(lengthsOfLengths);
  let remaining = bits.read(1) === 1 ? 2 + bits.read(2 + 2 * bits.read(3)) : size;
  if (remaining > size) throw new RangeError("Prefix code has too many lengths");

  const lengths = new Uint8Array(size);
  let previous = DEFAULT_LENGTH;
  for (let symbol = 0; symbol < size && remaining > 0; remaining--) {
    const length = code.read(bits);
    if (length <= MAX_CODE_LENGTH) {
      lengths[symbol++] = length;
      if (length > 0) previous = length;
      continue;
    }
    const { bits: extraBits, min } = REPEATS[length - REPEAT_PREVIOUS]!;
    const end = symbol + min + bits.read(extraBits);
    if (end > size) throw new RangeError("Prefix code has too many lengths");
    if (length === REPEAT_PREVIOUS) lengths.fill(previous, symbol, end);
    symbol = end;
  }
  return lengths;
}
