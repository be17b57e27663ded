import { crc32 } from "node:zlib";
import { exifOf, orientationIn, UPRIGHT } from "./exif.ts";
import { type ImageHeader, PartWriter, ROWS_AT_A_TIME, viewOf } from "./image-header.ts";

/** What every PNG begins with. */
export const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** A PNG may say that it has 40 megapixels in one row, and that row alone would take gigabytes. */
const MOST_SIDE = 65_535;

/** Optional chunks that bear on the pixels. All others may be left out (RFC 2083, 3.3). */
const COLOUR_CHUNKS = ["tRNS", "iCCP", "sRGB", "gAMA", "cHRM", "cICP", "sBIT"];

/** Channels after decoding, by colour type; a palette is looked up. */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 3, 4: 2, 6: 4 };

/** Length, type and checksum of a chunk. */
const AROUND_CHUNK = 12;

/** Reads a PNG up to its pixels. Throws RangeError for what is no PNG. */
export function readPngHeader(bytes: Uint8Array): ImageHeader {
  const view = viewOf(bytes);
  if (typeAt(view, PNG_SIGNATURE.length) !== "IHDR") throw new RangeError("PNG does not begin with IHDR");
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  const bitDepth = view.getUint8(24);
  const bytesPerPixel = Math.ceil(bitDepth / 8) * (CHANNELS[view.getUint8(25)] ?? 0);
  const isInterlaced = view.getUint8(28) !== 0;
  const rows = isInterlaced ? height : Math.min(height, ROWS_AT_A_TIME);
  const { orientation, encoded } = neededParts(bytes, view);
  const heldBytes = rows * width * bytesPerPixel;
  return { width, height, orientation, bitDepth, mostSide: MOST_SIDE, heldBytes, encoded };
}

function neededParts(bytes: Uint8Array, view: DataView): Pick<ImageHeader, "orientation" | "encoded"> {
  const parts = new PartWriter(bytes);
  parts.write(bytes.subarray(0, PNG_SIGNATURE.length));
  let orientation = UPRIGHT;
  for (let at = PNG_SIGNATURE.length, end = at; at < bytes.length; at = end) {
    end = chunkEnd(view, at);
    const type = end > bytes.length ? "" : typeAt(view, at);
    if (type === "eXIf" && orientation === UPRIGHT) {
      orientation = orientationIn(bytes.subarray(at + 8, end - 4));
      if (orientation !== UPRIGHT) parts.write(encodeChunk("eXIf", exifOf(orientation)));
    } else if (!isOptional(type) || COLOUR_CHUNKS.includes(type)) parts.write(bytes.subarray(at, end));
    if (type === "IEND") break;
  }
  return { orientation, encoded: parts.written() };
}

/** Where the next chunk begins; beyond the end for what is cut short, of which libpng then says so. */
function chunkEnd(view: DataView, at: number): number {
  return at + 4 > view.byteLength ? Number.POSITIVE_INFINITY : at + AROUND_CHUNK + view.getUint32(at);
}

function typeAt(view: DataView, at: number): string {
  return String.fromCharCode(...[4, 5, 6, 7].map((i) => view.getUint8(at + i)));
}

function isOptional(type: string): boolean {
  return /^[a-z]/.test(type);
}

/** A chunk of a PNG. */
export function encodeChunk(type: string, body: Uint8Array): Buffer {
  const chunk = Buffer.alloc(body.length + AROUND_CHUNK);
  chunk.writeUInt32BE(body.length);
  chunk.write(type, 4, "latin1");
  chunk.set(body, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  return chunk;
}
