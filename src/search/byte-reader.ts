/** Reads a byte stream in pieces of a given length. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** Returns the next `length` bytes, or fewer at the end of the stream. */
  async read(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let missing = length;
    while (missing > this.#rest.length) {
      parts.push(this.#rest);
      missing -= this.#rest.length;
      const { done, value } = await this.#chunks.next();
      this.#rest = Buffer.from(done ? [] : value);
      if (done) return Buffer.concat(parts);
    }
    parts.push(this.#rest.subarray(0, missing));
    this.#rest = this.#rest.subarray(missing);
    return Buffer.concat(parts);
  }
}
