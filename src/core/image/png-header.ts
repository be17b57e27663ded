import { crc32 } from "node:zlib";
import { encodeOrientation, readOrientation, UPRIGHT } from "./exif.ts";
import { dataViewOf, type ImageHeader, matchesAt, PartWriter, ROWS_IN_MEMORY } from "./image-header.ts";

/** The first bytes of every PNG. */
export const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** Without this limit a PNG could have 40 megapixels in one row, and that row alone would take gigabytes. */
const MAX_SIDE = 65_535;

/** Ancillary chunks that affect the pixels. All others may be dropped (RFC 2083, 3.3). */
const COLOUR_CHUNKS = ["tRNS", "iCCP", "sRGB", "gAMA", "cHRM", "cICP", "sBIT"];

/** Channels after decoding, by colour type. Palettes are expanded. */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 3, 4: 2, 6: 4 };

/** Bytes of a chunk besides its body: length, type and checksum. */
const CHUNK_OVERHEAD = 12;

/** Whether bytes begin like a PNG. */
export function isPng(bytes: Uint8Array): boolean {
  return matchesAt(bytes, 0, PNG_SIGNATURE);
}

/** Parses a PNG up to its pixels. Throws RangeError if it is not a PNG. */
export function readPngHeader(bytes: Uint8Array): ImageHeader {
  const view = dataViewOf(bytes);
  if (chunkType(view, PNG_SIGNATURE.length) !== "IHDR") throw new RangeError("PNG does not begin with IHDR");
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  const bitDepth = view.getUint8(24);
  const bytesPerPixel = Math.ceil(bitDepth / 8) * (CHANNELS[view.getUint8(25)] ?? 0);
  const isInterlaced = view.getUint8(28) !== 0;
  const rows = isInterlaced ? height : Math.min(height, ROWS_IN_MEMORY);
  const { orientation, sanitized } = sanitize(bytes, view);
  const decoderBytes = rows * width * bytesPerPixel;
  return { width, height, orientation, bitDepth, maxSide: MAX_SIDE, decoderBytes, sanitized };
}

function sanitize(bytes: Uint8Array, view: DataView): Pick<ImageHeader, "orientation" | "sanitized"> {
  const parts = new PartWriter(bytes);
  parts.write(bytes.subarray(0, PNG_SIGNATURE.length));
  let orientation = UPRIGHT;
  for (let start = PNG_SIGNATURE.length, end = start; start < bytes.length; start = end) {
    end = chunkEnd(view, start);
    const type = end > bytes.length ? "" : chunkType(view, start);
    if (type === "eXIf" && orientation === UPRIGHT) {
      orientation = readOrientation(bytes.subarray(start + 8, end - 4));
      if (orientation !== UPRIGHT) parts.write(encodeChunk("eXIf", encodeOrientation(orientation)));
    } else if (!isAncillary(type) || COLOUR_CHUNKS.includes(type)) parts.write(bytes.subarray(start, end));
    if (type === "IEND") break;
  }
  return { orientation, sanitized: parts.written() };
}

/** Returns the offset of the next chunk. It is beyond the end if the chunk is truncated, which libpng then reports. */
function chunkEnd(view: DataView, start: number): number {
  if (start + 4 > view.byteLength) return Number.POSITIVE_INFINITY;
  return start + CHUNK_OVERHEAD + view.getUint32(start);
}

function chunkType(view: DataView, start: number): string {
  return String.fromCharCode(...[4, 5, 6, 7].map((i) => view.getUint8(start + i)));
}

function isAncillary(type: string): boolean {
  return /^[a-z]/.test(type);
}

/** Encodes a PNG chunk with its length, type and checksum. */
export function encodeChunk(type: string, body: Uint8Array): Buffer {
  const chunk = Buffer.alloc(body.length + CHUNK_OVERHEAD);
  chunk.writeUInt32BE(body.length);
  chunk.write(type, 4, "latin1");
  chunk.set(body, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  return chunk;
}
