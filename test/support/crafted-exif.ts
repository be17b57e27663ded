import { jpegSegment, withSegments } from "./images.ts";

/** One entry of an EXIF directory. */
export interface ExifEntry {
  readonly tag: number;
  readonly type: number;
  readonly count: number;
  /** The value itself, or its offset. */
  readonly value: number;
}

/** Creates an EXIF block with one directory. */
export function createExif(entries: readonly ExifEntry[], next = 0): Buffer {
  const block = Buffer.alloc(10 + 12 * entries.length + 4);
  block.write("MM\0*\0\0\0\x08", "latin1");
  block.writeUInt16BE(entries.length, 8);
  for (const [i, { tag, type, count, value }] of entries.entries()) {
    const at = 10 + 12 * i;
    block.writeUInt16BE(tag, at);
    block.writeUInt16BE(type, at + 2);
    block.writeUInt32BE(count, at + 4);
    if (type === 3 && count === 1) block.writeUInt16BE(value, at + 8);
    else block.writeUInt32BE(value, at + 8);
  }
  block.writeUInt32BE(next, block.length - 4);
  return block;
}

/** Creates an EXIF block with any value, valid or not, in its orientation tag. */
export function createOrientationExif(value: number): Buffer {
  return createExif([{ tag: 0x0112, type: 3, count: 1, value }]);
}

/** Creates a directory with thousands of entries that point back to the directory itself. */
export function createCyclicExif(): Buffer {
  return createExif(Array.from({ length: 5000 }, () => ({ tag: 0x8769, type: 4, count: 1, value: 8 })));
}

/** Inserts EXIF into a JPEG. */
export function withExif(jpeg: Buffer, block: Uint8Array): Buffer {
  return withSegments(jpeg, jpegSegment(0xe1, Buffer.concat([Buffer.from("Exif\0\0", "latin1"), block])));
}
