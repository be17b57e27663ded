import { readFileSync } from "node:fs";
import { crc32, deflateSync } from "node:zlib";
import sharp, { type Sharp } from "sharp";

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const FRAME = 0xc0;
const SCAN = 0xda;

/** Reads a real photograph: sample1.jpg to sample6.jpg, each 1920 pixels wide with some faces. */
export function photograph(number: 1 | 2 | 3 | 4 | 5 | 6): Buffer {
  return readFileSync(
    new URL(`../../node_modules/@vladmandic/face-api/demo/sample${number}.jpg`, import.meta.url),
  );
}

/** A JPEG of one face, 4 KB. An analysis takes about a third of the CPU time of a whole photograph. */
export function smallPortrait(): Promise<Buffer> {
  const face = { left: 1390, top: 140, width: 360, height: 360 };
  return sharp(photograph(1)).extract(face).resize(160).jpeg().toBuffer();
}

/** Encodes an image of one colour as PNG. */
export function plainImage(width: number, height: number, background: string): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();
}

/** Draws four rectangles, in the order top left, top right, bottom left, bottom right. Colours are #rrggbb. */
export function quadrants(colours: readonly string[], width: number, height: number): Sharp {
  const pixels = Buffer.from(colours.map((colour) => colour.slice(1)).join(""), "hex");
  const options = { kernel: "nearest", fit: "fill" } as const;
  return sharp(pixels, { raw: { width: 2, height: 2, channels: 3 } }).resize(width, height, options);
}

/** Encodes a PNG chunk with its length and checksum. */
export function pngChunk(type: string, body: Uint8Array = Buffer.alloc(0)): Buffer {
  const content = Buffer.concat([Buffer.from(type, "latin1"), body]);
  return Buffer.concat([uint32(body.length), content, uint32(crc32(content))]);
}

/** Creates a PNG with any header, valid or not, followed by the chunks. */
export function createPng(
  width: number,
  height: number,
  depth: number,
  colour: number,
  ...chunks: Buffer[]
): Buffer {
  const header = Buffer.concat([uint32(width), uint32(height), Buffer.from([depth, colour, 0, 0, 0])]);
  return Buffer.concat([PNG_SIGNATURE, pngChunk("IHDR", header), ...chunks, pngChunk("IEND")]);
}

/** Creates an IDAT chunk of zero pixels: rows of `bytesPerRow`, each after its filter byte. */
export function blankDataChunk(rows: number, bytesPerRow: number): Buffer {
  return pngChunk("IDAT", deflateSync(Buffer.alloc(rows * (1 + bytesPerRow))));
}

/** Inserts chunks after the header of a PNG. */
export function withChunks(png: Buffer, ...chunks: Buffer[]): Buffer {
  const afterHeader = PNG_SIGNATURE.length + 25;
  return Buffer.concat([png.subarray(0, afterHeader), ...chunks, png.subarray(afterHeader)]);
}

/** Encodes a JPEG segment with its marker and length. */
export function jpegSegment(marker: number, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([0xff, marker]), uint32(body.length + 2).subarray(2), body]);
}

/** Inserts segments after the first marker of a JPEG. */
export function withSegments(jpeg: Buffer, ...segments: Buffer[]): Buffer {
  return Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)]);
}

/** Passes the content of each header segment of a JPEG through `edit`. */
export function editSegments(jpeg: Buffer, edit: (marker: number, body: Buffer) => Buffer): Buffer {
  const parts = [jpeg.subarray(0, 2)];
  let at = 2;
  for (let marker = 0; marker !== SCAN; ) {
    marker = jpeg.readUInt8(at + 1);
    const end = at + 2 + jpeg.readUInt16BE(at + 2);
    parts.push(jpegSegment(marker, edit(marker, Buffer.from(jpeg.subarray(at + 4, end)))));
    at = end;
  }
  return Buffer.concat([...parts, jpeg.subarray(at)]);
}

/** Changes the size in the header of a baseline JPEG, but not its data. */
export function withAnnouncedSize(jpeg: Buffer, width: number, height: number): Buffer {
  return editSegments(jpeg, (marker, body) => {
    if (marker !== FRAME) return body;
    body.writeUInt16BE(height, 1);
    body.writeUInt16BE(width, 3);
    return body;
  });
}

/** Zeroes the end of the scan header of a baseline JPEG, as Samsung phones do. */
export function withZeroedScanHeader(jpeg: Buffer): Buffer {
  return editSegments(jpeg, (marker, body) => (marker === SCAN ? body.fill(0, body.length - 3) : body));
}

/** Creates a valid JPEG of 8 by 8 pixels with two components, which are no known colour space. */
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
