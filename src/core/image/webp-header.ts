import { FaceError } from "../errors.ts";
import { encodeOrientation, readOrientation, UPRIGHT } from "./exif.ts";
import { dataViewOf, type ImageHeader, matchesAt, PartWriter, ROWS_IN_MEMORY } from "./image-header.ts";

// The container is specified in RFC 9649; the frame header of VP8 in RFC 6386, section 9.1.
//
// Only VP8, the lossy bitstream, is accepted. VP8L, the lossless one, which may also hold the alpha channel, can make
// libwebp take 700 MB for tables in a file of 300 kB, and how much shows only by reading the stream.

const RIFF = Buffer.from("RIFF", "latin1");
const WEBP = Buffer.from("WEBP", "latin1");
/** `RIFF`, the size of what follows, and `WEBP`. */
const FILE_HEADER_BYTES = 12;
/** The type and the size of a chunk. */
const CHUNK_HEADER_BYTES = 8;

/** The maximum side of a bitstream. The canvas of the container may announce more. */
const MAX_SIDE = 16_384;

/** The content of VP8X: flags and the size of the canvas. */
const VP8X_BYTES = 10;
/** Flags of VP8X. */
const ANIMATION = 0x02;
const EXIF = 0x08;
const ICC_PROFILE = 0x20;

const VP8_FRAME_HEADER_BYTES = 10;
const SIDE_MASK = 0x3fff;

/** What is not supported, as the end of a message. */
const ANIMATED = "an animated WebP and only still images are supported";
const LOSSLESS = "a lossless or transparent WebP and only lossy opaque ones are supported";

/** A chunk: its type, and the offsets of its start, of its content and of the end of its content. */
interface Chunk {
  readonly type: string;
  readonly start: number;
  readonly content: number;
  readonly end: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Chunks of a still image that affect its pixels or its orientation. */
const NEEDED_TYPES = ["VP8X", "ICCP", "VP8 ", "EXIF"] as const;

/** The first chunk of each needed type. */
type NeededChunks = Readonly<Partial<Record<(typeof NEEDED_TYPES)[number], Chunk>>>;

/** Whether bytes begin like a WebP. */
export function isWebp(bytes: Uint8Array): boolean {
  return matchesAt(bytes, 0, RIFF) && matchesAt(bytes, 8, WEBP);
}

/**
 * Parses a WebP up to its pixels. The size is the larger one of the canvas and the bitstream; libwebp rejects an image
 * in which they differ.
 *
 * Throws FaceError `unsupportedFormat` for an animation, a lossless image and one with an alpha channel, and RangeError
 * if the file is not a WebP or is truncated.
 */
export function readWebpHeader(bytes: Uint8Array): ImageHeader {
  const view = dataViewOf(bytes);
  const chunks = findNeededChunks(view);
  const canvas = chunks.VP8X && readCanvas(view, chunks.VP8X);
  const frame = chunks["VP8 "] && readFrameSize(view, chunks["VP8 "]);
  const size = frame ?? canvas;
  if (!size) throw new RangeError("WebP has no image");
  const orientation = chunks.EXIF
    ? readOrientation(bytes.subarray(chunks.EXIF.content, chunks.EXIF.end))
    : UPRIGHT;
  const width = Math.max(size.width, canvas?.width ?? 0);
  const height = Math.max(size.height, canvas?.height ?? 0);
  return {
    width,
    height,
    orientation,
    bitDepth: 8,
    maxSide: MAX_SIDE,
    decoderBytes: frame ? 3 * frame.width * Math.min(frame.height, ROWS_IN_MEMORY) : 0,
    sanitized: sanitize(bytes, chunks, orientation),
  };
}

function findNeededChunks(view: DataView): NeededChunks {
  const chunks: { -readonly [Type in keyof NeededChunks]: Chunk } = {};
  const end = FILE_HEADER_BYTES - 4 + view.getUint32(4, true);
  // The padding of the last chunk is often missing.
  if (end > view.byteLength + 1) throw new RangeError("WebP is truncated");
  for (const chunk of readChunks(view, Math.min(end, view.byteLength))) {
    const isExtended = chunks.VP8X !== undefined;
    const isFirst = chunk.start === FILE_HEADER_BYTES;
    if (isExtended && (chunk.type === "ANMF" || chunk.type === "ANIM")) throw unsupported(ANIMATED);
    if (isFirst ? !/^VP8[ LX]$/.test(chunk.type) : !isExtended) break;
    if (chunk.type === "VP8L" || chunk.type === "ALPH") throw unsupported(LOSSLESS);
    const type = NEEDED_TYPES.find((needed) => needed === chunk.type);
    if (type) chunks[type] ??= chunk;
    if (chunk.type === "VP8X" && view.getUint8(chunk.content) & ANIMATION) throw unsupported(ANIMATED);
  }
  return chunks;
}

function unsupported(what: string): FaceError {
  return new FaceError("unsupportedFormat", `The image is ${what}.`);
}

/** Yields the chunks up to the end. Throws RangeError if one exceeds it. */
function* readChunks(view: DataView, end: number): Generator<Chunk> {
  for (let start = FILE_HEADER_BYTES; start + CHUNK_HEADER_BYTES <= end; ) {
    const type = String.fromCharCode(...[0, 1, 2, 3].map((i) => view.getUint8(start + i)));
    const content = start + CHUNK_HEADER_BYTES;
    const contentEnd = content + view.getUint32(start + 4, true);
    if (contentEnd > end) throw new RangeError("WebP is truncated");
    yield { type, start, content, end: contentEnd };
    start = contentEnd + (contentEnd & 1);
  }
}

function readCanvas(view: DataView, { content, end }: Chunk): Size {
  if (end - content < VP8X_BYTES) throw new RangeError("WebP has a truncated header");
  const readSide = (at: number) => 1 + view.getUint16(at, true) + (view.getUint8(at + 2) << 16);
  return { width: readSide(content + 4), height: readSide(content + 7) };
}

/** Reads the size from the bitstream, which is what is decoded. */
function readFrameSize(view: DataView, { content, end }: Chunk): Size {
  if (end - content < VP8_FRAME_HEADER_BYTES) throw new RangeError("WebP has no VP8 frame");
  return {
    width: view.getUint16(content + 6, true) & SIDE_MASK,
    height: view.getUint16(content + 8, true) & SIDE_MASK,
  };
}

function sanitize(bytes: Uint8Array, chunks: NeededChunks, orientation: number): Uint8Array {
  const { VP8X, ICCP, "VP8 ": frame, EXIF: exif } = chunks;
  const parts = new PartWriter(bytes);
  const write = (chunk: Chunk | undefined) => {
    if (!chunk) return;
    parts.write(bytes.subarray(chunk.start, chunk.end));
    if (chunk.end & 1) parts.write(Buffer.alloc(1));
  };
  parts.write(bytes.subarray(0, FILE_HEADER_BYTES));
  write(VP8X);
  write(ICCP);
  write(frame);
  const isTurned = exif !== undefined && orientation !== UPRIGHT;
  if (isTurned) parts.write(encodeChunk("EXIF", encodeOrientation(orientation)));

  const sanitized = parts.written();
  const view = dataViewOf(sanitized);
  view.setUint32(4, sanitized.length - CHUNK_HEADER_BYTES, true);
  if (VP8X) {
    view.setUint8(FILE_HEADER_BYTES + CHUNK_HEADER_BYTES, (ICCP ? ICC_PROFILE : 0) | (isTurned ? EXIF : 0));
  }
  return sanitized;
}

function encodeChunk(type: string, content: Buffer): Buffer {
  const header = Buffer.alloc(CHUNK_HEADER_BYTES);
  header.write(type, "latin1");
  header.writeUInt32LE(content.length, 4);
  return Buffer.concat([header, content]);
}
