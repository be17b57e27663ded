/** Encodes a chunk of a WebP, padded to an even length. */
export function webpChunk(type: string, content: Uint8Array, announced = content.length): Buffer {
  return Buffer.concat([latin1(type), uint32(announced), content, Buffer.alloc(content.length & 1)]);
}

/** Creates a WebP of these chunks. */
export function createWebp(...chunks: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat([latin1("WEBP"), ...chunks]);
  return Buffer.concat([latin1("RIFF"), uint32(content.length), content]);
}

/** Flags of VP8X. */
export const VP8X_FLAGS = { animation: 0x02, exif: 0x08, alpha: 0x10, icc: 0x20 } as const;

/** Encodes VP8X with its flags and a canvas of 1 to 16,777,216 pixels on a side. */
export function vp8x(flags: number, width: number, height: number): Buffer {
  const content = Buffer.alloc(10);
  content.writeUInt8(flags);
  content.writeUIntLE(width - 1, 4, 3);
  content.writeUIntLE(height - 1, 7, 3);
  return webpChunk("VP8X", content);
}

/** The chunks of a WebP, by type and content. */
export function webpChunks(webp: Buffer): { readonly type: string; readonly content: Buffer }[] {
  const chunks: { type: string; content: Buffer }[] = [];
  for (let at = 12; at + 8 <= webp.length; ) {
    const length = webp.readUInt32LE(at + 4);
    chunks.push({
      type: webp.toString("latin1", at, at + 4),
      content: webp.subarray(at + 8, at + 8 + length),
    });
    at += 8 + length + (length & 1);
  }
  return chunks;
}

/** Changes the size in the frame header of a VP8 bitstream, but not its data. */
export function withVp8Size(vp8: Buffer, width: number, height: number): Buffer {
  const copy = Buffer.from(vp8);
  copy.writeUInt16LE(width, 6);
  copy.writeUInt16LE(height, 8);
  return copy;
}

/** Writes bits, the least significant bit of each byte first. */
class BitWriter {
  readonly #bytes: number[] = [];
  #bit = 0;

  write(value: number, count: number): this {
    for (let i = 0; i < count; i++) {
      if (this.#bit === 0) this.#bytes.push(0);
      this.#bytes[this.#bytes.length - 1]! |= ((value >> i) & 1) << this.#bit;
      this.#bit = (this.#bit + 1) & 7;
    }
    return this;
  }

  /** The bytes, and room for what a decoder reads ahead. */
  bytes(): Buffer {
    return Buffer.from([...this.#bytes, ...Buffer.alloc(8)]);
  }
}

/** Writes the prefix code of the single symbol 0, which has no bits. */
function writeSingleCode(bits: BitWriter): void {
  bits.write(0b0001, 4);
}

/** Writes a prefix code with eight bits for each of 256 symbols. */
function writeByteCode(bits: BitWriter): void {
  const order = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8];
  bits.write(0, 1).write(order.length - 4, 4);
  for (const symbol of order) bits.write(Number(symbol === 8), 3);
  bits
    .write(1, 1)
    .write(3, 3)
    .write(256 - 2, 8);
}

function reverseByte(value: number): number {
  return Array.from({ length: 8 }, (_, i) => ((value >> i) & 1) << (7 - i)).reduce((sum, bit) => sum | bit);
}

/**
 * Writes the stream of a valid lossless black square with a prefix code group for each block of 4 by 4 pixels, up to
 * 65,536. The decoder needs 5 kB or more for each group.
 */
function writeGroupBomb(bits: BitWriter, side: number): Buffer {
  const blocks = Math.ceil(side / 4) ** 2;
  // No transform, no color cache, an entropy image of blocks of 4 by 4 pixels.
  bits.write(0, 1).write(0, 1).write(1, 1).write(0, 3);
  bits.write(0, 1);
  for (const write of [writeByteCode, writeByteCode, writeSingleCode, writeSingleCode, writeSingleCode])
    write(bits);
  for (let i = 0; i < blocks; i++) bits.write(reverseByte(i & 255), 8).write(reverseByte((i >> 8) & 255), 8);
  for (let i = 0; i < Math.min(blocks, 65_536); i++)
    for (let code = 0; code < 5; code++) writeSingleCode(bits);
  return bits.bytes();
}

/** Creates a valid lossless WebP of about 300 kB (at 1024 pixels) whose decoder needs hundreds of megabytes. */
export function createGroupBomb(side: number): Buffer {
  const header = new BitWriter()
    .write(0x2f, 8)
    .write(side - 1, 14)
    .write(side - 1, 14)
    .write(0, 4);
  return createWebp(webpChunk("VP8L", writeGroupBomb(header, side)));
}

/** Creates the content of a compressed ALPH chunk with the same groups. */
export function createAlphaGroupBomb(side: number): Buffer {
  return Buffer.concat([Buffer.from([1]), writeGroupBomb(new BitWriter(), side)]);
}

/** Creates a lossless WebP of one color in a few bytes, without a palette: four bytes of memory for each pixel. */
export function createBlankLossless(width: number, height: number): Buffer {
  const bits = new BitWriter()
    .write(0x2f, 8)
    .write(width - 1, 14)
    .write(height - 1, 14)
    .write(0, 4);
  bits.write(0, 3);
  for (let code = 0; code < 5; code++) writeSingleCode(bits);
  return createWebp(webpChunk("VP8L", bits.bytes()));
}

function latin1(text: string): Buffer {
  return Buffer.from(text, "latin1");
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
