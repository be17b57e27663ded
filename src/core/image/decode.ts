import sharp from "sharp";
import { FaceError } from "../errors.ts";
import type { Photo, Pixels } from "../types.ts";
import { liesOnSide } from "./exif.ts";
import { hasAt, type ImageHeader } from "./image-header.ts";
import { JPEG_SIGNATURE, readJpegHeader } from "./jpeg-header.ts";
import type { ImageLimits } from "./limits.ts";
import { PNG_SIGNATURE, readPngHeader } from "./png-header.ts";

// One worker decodes one image at a time, so neither a cache of earlier images nor more threads would help;
// without them memory stays flat and the same bytes always take the same path to the same pixels.
sharp.cache(false);
sharp.concurrency(1);

// Of all the formats libvips can load, a stranger's bytes reach two. This holds for the whole process.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: ["VipsForeignLoadJpegBuffer", "VipsForeignLoadPngBuffer"] });

/** Images up to this longer side are worked on as they are: to shrink them takes longer than to decode them. */
export const WHOLE_SIDE = 2048;

/** Larger ones are shrunk to this longer side while they are decoded. */
export const SHRUNK_SIDE = 1024;

// Interlaced, progressive and very wide images are in memory as a whole. As many pixels as are allowed then
// fit in the usual ways of storing them; in 16 bits, or as CMYK, somewhat fewer do.
const HELD_BYTES_PER_PIXEL = 4;

interface Size {
  readonly width: number;
  readonly height: number;
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
  const readHeader = headerReaderOf(bytes);
  const header = await orUnreadable(() => readHeader(bytes));
  checkSize(header, limits);
  const pixels = await orUnreadable(() => readPixels(header, limits));
  signal?.throwIfAborted();
  return { pixels, ...uprightSize(header) };
}

async function readPixels(header: ImageHeader, limits: ImageLimits): Promise<Pixels> {
  const image = sharp(header.encoded, {
    autoOrient: true,
    limitInputPixels: limits.maxPixels,
    // Only at "warning" does libjpeg refuse a picture whose middle is missing instead of painting it grey.
    failOn: "warning",
    // An embedded profile is applied, a broken one passed over. Not at 16 bits: there sharp converts to Display P3.
    ignoreIcc: header.bitDepth > 8,
  });
  const { width, height } = workingSize(uprightSize(header));
  const { data, info } = await image
    // Most of the shrinking is done by libjpeg, which may move the picture by up to half a pixel.
    .resize({ width, height, fit: "fill" })
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

function checkSize({ width, height, mostSide, heldBytes }: ImageHeader, { maxPixels }: ImageLimits): void {
  const size = `The image is ${width} by ${height} pixels`;
  if (width * height > maxPixels) {
    throw new FaceError("imageTooLarge", `${size} where at most ${maxPixels} in all are accepted.`);
  }
  if (Math.max(width, height) > mostSide) {
    throw new FaceError("imageTooLarge", `${size} where at most ${mostSide} are accepted on a side.`);
  }
  const mostBytes = maxPixels * HELD_BYTES_PER_PIXEL;
  if (heldBytes > mostBytes) {
    const kind = "and stored in such a way that it takes";
    throw new FaceError(
      "imageTooLarge",
      `${size} ${kind} ${heldBytes} bytes of memory where at most ${mostBytes} are accepted.`,
    );
  }
}

// Headers are read by us because libvips calls the largest ones corrupt, and the caller should hear the true reason.
function headerReaderOf(bytes: Uint8Array): (bytes: Uint8Array) => ImageHeader {
  if (hasAt(bytes, 0, JPEG_SIGNATURE)) return readJpegHeader;
  if (hasAt(bytes, 0, PNG_SIGNATURE)) return readPngHeader;
  throw new FaceError("unsupportedFormat", "The image is neither a JPEG nor a PNG.");
}

function uprightSize({ width, height, orientation }: ImageHeader): Size {
  return liesOnSide(orientation) ? { width: height, height: width } : { width, height };
}

function workingSize({ width, height }: Size): Size {
  const longer = Math.max(width, height);
  if (longer <= WHOLE_SIDE) return { width, height };
  const scale = SHRUNK_SIDE / longer;
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
