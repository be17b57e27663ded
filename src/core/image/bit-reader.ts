/** Reads bits of a byte array, the least significant bit of each byte first. */
export class BitReader {
  readonly #bytes: Uint8Array;
  #byte = 0;
  #bit = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Returns the next `count` bits, at most 25, without consuming them. Bits beyond the end are 0. */
  peek(count: number): number {
    const byteAt = (i: number) => this.#bytes[this.#byte + i] ?? 0;
    const word = byteAt(0) | (byteAt(1) << 8) | (byteAt(2) << 16) | (byteAt(3) << 24);
    return (word >>> this.#bit) & ((1 << count) - 1);
  }

  /** Consumes `count` bits. Throws RangeError beyond the end. */
  skip(count: number): void {
    this.#bit += count;
    this.#byte += this.#bit >> 3;
    this.#bit &= 7;
    if (this.#byte > this.#bytes.length || (this.#byte === this.#bytes.length && this.#bit > 0))
      throw new RangeError("Bits end early");
  }

  /** Reads `count` bits, at most 25. Throws RangeError beyond the end. */
  read(count: number): number {
    const value = this.peek(count);
    this.skip(count);
    return value;
  }
}
