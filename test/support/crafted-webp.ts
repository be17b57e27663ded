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

function latin1(text: string): Buffer {
  return Buffer.from(text, "latin1");
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
