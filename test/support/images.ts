import { readFileSync } from "node:fs";
import { crc32, deflateSync } from "node:zlib";
import sharp, { type Sharp } from "sharp";

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const FRAME = 0xc0;
const SCAN = 0xda;

/** Bytes of a real photograph: sample1.jpg to sample6.jpg, each 1920 pixels wide with some faces. */
export function photograph(number: 1 | 2 | 3 | 4 | 5 | 6): Buffer {
  return readFileSync(
    new URL(`../../node_modules/@vladmandic/face-api/demo/sample${number}.jpg`, import.meta.url),
  );
}

/** Four rectangles of colour, in the order top left, top right, bottom left, bottom right. */
export function quadrants(colours: readonly string[], width: number, height: number): Sharp {
  const [w, h] = [width / 2, height / 2];
  const patches = colours.map((background, i) => ({
    input: { create: { width: w, height: h, channels: 3, background } as const },
    left: (i % 2) * w,
    top: Math.floor(i / 2) * h,
  }));
  return sharp({ create: { width, height, channels: 3, background: "black" } }).composite(patches);
}

/** One PNG chunk with its length and checksum. */
export function chunk(type: string, body: Uint8Array = Buffer.alloc(0)): Buffer {
  const content = Buffer.concat([Buffer.from(type, "latin1"), body]);
  return Buffer.concat([uint32(body.length), content, uint32(crc32(content))]);
}

/** A PNG put together by hand: whatever its header says, followed by these chunks. */
export function pngOf(
  width: number,
  height: number,
  depth: number,
  colour: number,
  ...chunks: Buffer[]
): Buffer {
  const header = Buffer.concat([uint32(width), uint32(height), Buffer.from([depth, colour, 0, 0, 0])]);
  return Buffer.concat([PNG_SIGNATURE, chunk("IHDR", header), ...chunks, chunk("IEND")]);
}

/** Chunk of pixels all zero: rows of so many bytes, each with its filter byte. */
export function blankRows(rows: number, bytesPerRow: number): Buffer {
  return chunk("IDAT", deflateSync(Buffer.alloc(rows * (1 + bytesPerRow))));
}

/** The PNG with more chunks after its header. */
export function withChunks(png: Buffer, ...chunks: Buffer[]): Buffer {
  const afterHeader = PNG_SIGNATURE.length + 25;
  return Buffer.concat([png.subarray(0, afterHeader), ...chunks, png.subarray(afterHeader)]);
}

/** One JPEG segment with its marker and length. */
export function segment(marker: number, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([0xff, marker]), uint32(body.length + 2).subarray(2), body]);
}

/** The JPEG with more bytes right after its first marker. */
export function withSegments(jpeg: Buffer, ...segments: Buffer[]): Buffer {
  return Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)]);
}

/** The JPEG with the content of each header segment passed through `edit`. */
export function editSegments(jpeg: Buffer, edit: (marker: number, body: Buffer) => Buffer): Buffer {
  const parts = [jpeg.subarray(0, 2)];
  let at = 2;
  for (let marker = 0; marker !== SCAN; ) {
    marker = jpeg.readUInt8(at + 1);
    const end = at + 2 + jpeg.readUInt16BE(at + 2);
    parts.push(segment(marker, edit(marker, Buffer.from(jpeg.subarray(at + 4, end)))));
    at = end;
  }
  return Buffer.concat([...parts, jpeg.subarray(at)]);
}

/** The sequential JPEG with another size in its header, its data untouched. */
export function withAnnouncedSize(jpeg: Buffer, width: number, height: number): Buffer {
  return editSegments(jpeg, (marker, body) => {
    if (marker !== FRAME) return body;
    body.writeUInt16BE(height, 1);
    body.writeUInt16BE(width, 3);
    return body;
  });
}

/** The sequential JPEG with zeros at the end of its scan header, as Samsung phones write it. */
export function withZeroedScanHeader(jpeg: Buffer): Buffer {
  return editSegments(jpeg, (marker, body) => (marker === SCAN ? body.fill(0, body.length - 3) : body));
}

/** A sound JPEG of 8 by 8 pixels whose two components are no known colours. */
export async function twoComponentJpeg(): Promise<Buffer> {
  // Two grey blocks side by side are, byte for byte, one block of two components.
  const grey = sharp({ create: { width: 16, height: 8, channels: 3, background: "#505050" } }).toColourspace(
    "b-w",
  );
  const jpeg = await grey.jpeg().toBuffer();
  return editSegments(jpeg, (marker, body) => {
    if (marker === FRAME) return Buffer.from([8, 0, 8, 0, 8, 2, 1, 0x11, 0, 2, 0x11, 0]);
    if (marker === SCAN) return Buffer.from([2, 1, 0, 2, 0, 0, 63, 0]);
    return body;
  });
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
