import sharp, { type Sharp } from "sharp";
import { FaceError } from "./face-error.ts";
import type { ImageLimits, Photo, Pixels } from "./types.ts";

// One worker decodes one image at a time, so neither a cache of earlier images nor more threads would help;
// without them memory stays flat and the same bytes always take the same path to the same pixels.
sharp.cache(false);
sharp.concurrency(1);

// Of all the formats libvips can load, a stranger's bytes reach two. This holds for the whole process.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: ["VipsForeignLoadJpegBuffer", "VipsForeignLoadPngBuffer"] });

/** What one image may cost where nothing else is said: 10 MiB and 40 megapixels. */
export const DEFAULT_LIMITS: ImageLimits = { maxBytes: 10 * 1024 * 1024, maxPixels: 40_000_000 };

/** Longest side of the pixels that are worked on; larger images are shrunk to it while they are decoded. */
export const WORKING_SIDE = 1024;

// The most a JPEG can announce. A PNG may be 40 megapixels in one row, and that row alone takes gigabytes.
const MAX_SIDE = 65_535;

const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const PNG_IHDR = 0x49484452;
const JPEG_SIGNATURE = [0xff, 0xd8, 0xff];
const JPEG_FRAMES = [0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf];
const JPEG_SEQUENTIAL_FRAMES = [0xc0, 0xc1];
const JPEG_SCAN = 0xda;

interface Size {
  readonly width: number;
  readonly height: number;
}

interface Header {
  /** As announced, before any turning. */
  readonly size: Size;
  /** The image to decode: the bytes given, or a mended copy. */
  readonly encoded: Uint8Array;
}

/**
 * Decodes a JPEG or PNG, known by its first bytes, to upright 8-bit sRGB on white.
 * Its bytes and then the size in its header are held against the limits before any pixel is decoded.
 *
 * Throws FaceError: `unsupportedFormat`, `imageTooLarge`, or `unreadableImage` for data that is broken or cut
 * short, of which no part is used. Aborting takes effect between the steps.
 */
export async function decode(bytes: Uint8Array, limits: ImageLimits, signal?: AbortSignal): Promise<Photo> {
  signal?.throwIfAborted();
  if (bytes.length === 0) throw new FaceError("unsupportedFormat", "The image is empty.");
  checkBytes(bytes.length, limits);
  const readHeader = formatOf(bytes) === "jpeg" ? readJpegHeader : readPngHeader;
  const { size, encoded } = await orUnreadable(() => readHeader(bytes));
  checkSize(size, limits);

  // Only at "warning" does libjpeg refuse a picture whose middle is missing instead of painting it grey.
  const options = { failOn: "warning", limitInputPixels: limits.maxPixels, autoOrient: true } as const;
  const { autoOrient: upright, depth } = await orUnreadable(() => sharp(encoded, options).metadata());
  signal?.throwIfAborted();

  // An embedded profile is applied, a broken one passed over. Not at 16 bits: there sharp converts to Display P3.
  const image = sharp(encoded, { ...options, ignoreIcc: depth === "ushort" });
  const pixels = await orUnreadable(() => readPixels(image, workingSize(upright)));
  signal?.throwIfAborted();
  return { pixels, width: upright.width, height: upright.height };
}

async function readPixels(image: Sharp, { width, height }: Size): Promise<Pixels> {
  const { data, info } = await image
    // The fast way leaves more of the shrinking to libjpeg, which moves the picture by up to half a pixel.
    .resize({ width, height, fit: "fill", fastShrinkOnLoad: false })
    .flatten({ background: "#ffffff" })
    .toColourspace("srgb")
    .raw()
    // Not toUint8Array: in sharp 0.35.5 it never frees the pixels it copied.
    .toBuffer({ resolveWithObject: true });
  // A JPEG may have two components, which are no colours and come through as they are.
  if (info.channels !== 3) throw new RangeError(`${info.channels} channels`);
  return { width, height, data };
}

function checkBytes(bytes: number, { maxBytes }: ImageLimits): void {
  if (bytes <= maxBytes) return;
  throw new FaceError(
    "imageTooLarge",
    `The image has ${bytes} bytes where at most ${maxBytes} are accepted.`,
  );
}

function checkSize({ width, height }: Size, { maxPixels }: ImageLimits): void {
  const size = `The image is ${width} by ${height} pixels`;
  if (width * height > maxPixels) {
    throw new FaceError("imageTooLarge", `${size} where at most ${maxPixels} in all are accepted.`);
  }
  if (Math.max(width, height) > MAX_SIDE) {
    throw new FaceError("imageTooLarge", `${size} where at most ${MAX_SIDE} are accepted on a side.`);
  }
}

function formatOf(bytes: Uint8Array): "jpeg" | "png" {
  const startsWith = (signature: readonly number[]) => signature.every((byte, i) => bytes[i] === byte);
  if (startsWith(JPEG_SIGNATURE)) return "jpeg";
  if (startsWith(PNG_SIGNATURE)) return "png";
  throw new FaceError("unsupportedFormat", "The image is neither a JPEG nor a PNG.");
}

// Headers are read here because libvips calls the largest ones corrupt, and the caller should hear the true reason.
function readPngHeader(bytes: Uint8Array): Header {
  const view = viewOf(bytes);
  if (view.getUint32(12) !== PNG_IHDR) throw new RangeError("PNG does not begin with IHDR");
  return { size: { width: view.getUint32(16), height: view.getUint32(20) }, encoded: bytes };
}

function readJpegHeader(bytes: Uint8Array): Header {
  const view = viewOf(bytes);
  const frame = findSegment(view, JPEG_FRAMES);
  const size = { width: view.getUint16(frame + 6), height: view.getUint16(frame + 4) };
  if (!JPEG_SEQUENTIAL_FRAMES.includes(view.getUint8(frame))) return { size, encoded: bytes };

  // Many Samsung selfies have zeros where a sequential scan must say "0, 63, 0". Nothing depends on these bytes,
  // but libjpeg warns, and a warning is otherwise the sign of missing data.
  const scan = findSegment(view, [JPEG_SCAN]);
  const encoded = new Uint8Array(bytes);
  encoded.set([0, 63, 0], scan + 4 + 2 * view.getUint8(scan + 3));
  return { size, encoded };
}

/** Place of the first of these markers in a JPEG header; two bytes of length and the segment follow it. */
function findSegment(view: DataView, markers: readonly number[]): number {
  let at = JPEG_SIGNATURE.length;
  while (view.getUint8(at - 1) === 0xff) {
    const marker = view.getUint8(at);
    if (markers.includes(marker)) return at;
    if (marker === JPEG_SCAN) break;
    // Any number of 0xff may stand before a marker.
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 1);
  }
  throw new RangeError("JPEG header lacks a segment");
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function workingSize({ width, height }: Size): Size {
  const scale = Math.min(1, WORKING_SIDE / Math.max(width, height));
  return {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  };
}

async function orUnreadable<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new FaceError("unreadableImage", "The image is damaged or incomplete and cannot be read.", {
      cause,
    });
  }
}
