import type { Codes } from "./layout.ts";

/**
 * A table that tells by the bits ahead which code and number they begin with. It has one word with the least 16 bits
 * that begin with a code longer than `SHORT_BITS`, then an entry for all that so many bits can be, then one for each
 * 16 bits from the least on.
 *
 * An entry is four numbers in 32 bits: how many bits to pass over, how many of these are the number that follows the
 * code (none where the entry has it), how many coefficients further on that number belongs, and the number itself.
 */
export const ENTRY = {
  lengthMask: 63,
  sizeShift: 6,
  sizeMask: 15,
  stepShift: 10,
  stepMask: 127,
  numberShift: 21,
};

export const SHORT_BITS = 10;
const LONG_BITS = 16;

/** Where the entries begin, in words. */
export const SHORT_ENTRIES = 1;
export const LONG_ENTRIES = SHORT_ENTRIES + 2 ** SHORT_BITS;

/** Room for those of long codes; the common tables need a tenth of it. */
const MOST_LONG_ENTRIES = 4096;
export const TABLE_WORDS = LONG_ENTRIES + MOST_LONG_ENTRIES;

/** Instead of a step: that the block has no more, and that the bits are no code. */
export const END_STEP = 127;
export const FAULT_STEP = 64;

/** Most bits of a number: first coefficients are told by their difference, which takes one more. */
const MOST_FIRST_BITS = 11;
const MOST_OTHER_BITS = 10;

/** What a code stands for: a number of so many bits, so far from the last one. */
interface Meaning {
  readonly size: number;
  readonly step: number;
}

/** Writes the table of codes of first coefficients. Throws RangeError for codes that cannot be, or are not common. */
export function writeFirstTable(words: Int32Array, codes: Codes): void {
  writeTable(words, codes, (size) => {
    if (size > MOST_FIRST_BITS) throw new RangeError("JPEG has a number of too many bits");
    return { size, step: 0 };
  });
}

/** The same of codes of other coefficients, which also tell how many zeros are before one. */
export function writeOtherTable(words: Int32Array, codes: Codes): void {
  writeTable(words, codes, (symbol) => {
    const [zeros, size] = [symbol >> 4, symbol & 0xf];
    if (size > MOST_OTHER_BITS) throw new RangeError("JPEG has a number of too many bits");
    if (symbol === 0) return { size, step: END_STEP };
    if (size === 0 && zeros < 15) throw new RangeError("JPEG has codes for several blocks");
    return { size, step: zeros + 1 };
  });
}

function writeTable(
  words: Int32Array,
  { counts, symbols }: Codes,
  meaningOf: (symbol: number) => Meaning,
): void {
  words.fill(FAULT_STEP << ENTRY.stepShift);
  let leastLong = 2 ** LONG_BITS;
  let place = 0;
  // The 16 bits that begin with the next code and else are zero.
  let bits = 0;
  for (let length = 1; length <= LONG_BITS; length++) {
    for (let i = 0; i < counts[length - 1]!; i++) {
      const meaning = meaningOf(symbols[place++]!);
      if (length <= SHORT_BITS) {
        writeEntries(
          words,
          SHORT_ENTRIES + (bits >> (LONG_BITS - SHORT_BITS)),
          SHORT_BITS - length,
          length,
          meaning,
        );
      } else {
        leastLong = Math.min(leastLong, bits);
        writeEntries(words, LONG_ENTRIES + bits - leastLong, LONG_BITS - length, length, meaning);
      }
      bits += 1 << (LONG_BITS - length);
    }
  }
  // Ones alone are no code.
  if (bits >= 2 ** LONG_BITS) throw new RangeError("JPEG has more codes than there can be");
  if (2 ** LONG_BITS - leastLong > MOST_LONG_ENTRIES) throw new RangeError("JPEG has too many long codes");
  words[0] = leastLong;
}

/** Writes the entries for all that so many bits after a code can be. */
function writeEntries(
  words: Int32Array,
  at: number,
  bitsAfter: number,
  length: number,
  { size, step }: Meaning,
): void {
  const entry = (length + size) | (step << ENTRY.stepShift);
  const bitsLeft = bitsAfter - size;
  for (let after = 0; after < 1 << bitsAfter; after++) {
    words[at + after] =
      bitsLeft < 0
        ? entry | (size << ENTRY.sizeShift)
        : entry | (numberOf(after >> bitsLeft, size) << ENTRY.numberShift);
  }
}

/** A number by its bits: those that begin with a zero are negative. */
function numberOf(bits: number, size: number): number {
  return bits < 1 << (size - 1) ? bits - (1 << size) + 1 : bits;
}
