import sharp from "sharp";
import { FaceError } from "../errors.ts";
import type { Pixels } from "../geometry.ts";
import type { Photo } from "../types.ts";
import { swapsSides } from "./exif.ts";
import { FORMATS } from "./formats.ts";
import type { ImageHeader } from "./image-header.ts";
import { DEFAULT_LIMITS, type ImageFormat, type ImageLimits } from "./limits.ts";

// A worker decodes one image at a time, so neither a cache nor more threads would help. Without them memory use is
// stable, and decoding is deterministic.
sharp.cache(false);
sharp.concurrency(1);

// Untrusted bytes reach only the loaders of accepted formats, of libvips' many. This applies to the whole process.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: DEFAULT_LIMITS.formats.map((format) => FORMATS[format].loader) });

/** Images up to this longer side are not downscaled, since that would take longer than decoding. */
export const MAX_FULL_SIZE_SIDE = 2048;

/** Larger images are downscaled to this longer side while they are decoded. */
export const DOWNSCALED_SIDE = 1024;

/**
 * Decoder memory allowed per pixel of the limit. Interlaced, progressive and very wide images are in memory as a whole.
 * In the usual encodings they fit up to the pixel limit; with 16 bits or as CMYK they may have fewer pixels.
 */
const DECODER_BYTES_PER_PIXEL = 4;

const MEBIBYTE = 1024 * 1024;
const MEGAPIXEL = 1_000_000;

interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * Decodes an image, whose format is recognized by its signature, to upright 8-bit sRGB on white. Its bytes and its
 * header are checked against the limits before any pixel is decoded.
 *
 * Throws FaceError `unsupportedFormat`, `imageTooLarge`, or `unreadableImage` if the data is corrupt or truncated.
 * Cancellation takes effect between two steps.
 */
export async function decode(bytes: Uint8Array, limits: ImageLimits, signal?: AbortSignal): Promise<Photo> {
  signal?.throwIfAborted();
  if (bytes.length === 0) throw new FaceError("unsupportedFormat", "The image is empty.");
  checkBytes(bytes.length, limits);
  const format = recognizeFormat(bytes, limits);
  const header = await orUnreadable(() => FORMATS[format].readHeader(bytes));
  checkHeader(header, limits);
  sharp.unblock({ operation: [FORMATS[format].loader] });
  const pixels = await orUnreadable(() => decodePixels(header, limits));
  signal?.throwIfAborted();
  return { pixels, ...uprightSize(header) };
}

/**
 * Decodes a photo that an analyzer has accepted, at its full size. It checks no limits, and does not fail on defects that
 * an analyzer accepts.
 */
export async function decodeFullSize(photo: Uint8Array): Promise<Pixels> {
  const { data, info } = await sharp(photo, { failOn: "none", autoOrient: true })
    .flatten({ background: "#ffffff" })
    .toColourspace("srgb")
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}

async function decodePixels(header: ImageHeader, limits: ImageLimits): Promise<Pixels> {
  const image = sharp(header.sanitized, {
    autoOrient: true,
    limitInputPixels: limits.maxPixels,
    // At other levels libjpeg fills missing data with grey instead of failing.
    failOn: "warning",
    // An embedded profile is applied unless it is broken. At 16 bits sharp would convert to Display P3, not sRGB.
    ignoreIcc: header.bitDepth > 8,
  });
  const { width, height } = workingSize(uprightSize(header));
  const { data, info } = await image
    // libjpeg does most of the downscaling while decoding, which may shift the image by up to half a pixel.
    .resize({ width, height, fit: "fill" })
    .flatten({ background: "#ffffff" })
    .toColourspace("srgb")
    .raw()
    // Not toUint8Array: in sharp 0.35.5 it leaks the pixels.
    .toBuffer({ resolveWithObject: true });
  // sharp passes on the components of a two-component JPEG, which are not colours.
  if (info.channels !== 3) throw new RangeError(`${info.channels} channels`);
  return { width, height, data };
}

function checkBytes(bytes: number, { maxBytes }: ImageLimits): void {
  if (bytes <= maxBytes) return;
  throw tooLarge(`The image is ${formatBytes(bytes, Math.ceil)}`, formatBytes(maxBytes, Math.floor));
}

function checkHeader(
  { width, height, maxSide, decoderBytes }: ImageHeader,
  { maxPixels }: ImageLimits,
): void {
  const pixels = width * height;
  if (pixels > maxPixels)
    throw tooLarge(`The image has ${formatPixels(pixels, Math.ceil)}`, formatPixels(maxPixels, Math.floor));
  if (Math.max(width, height) > maxSide)
    throw tooLarge(`The image is ${width} by ${height} pixels`, `${maxSide} on a side`);
  const maxDecoderBytes = maxPixels * DECODER_BYTES_PER_PIXEL;
  if (decoderBytes > maxDecoderBytes) {
    const needed = formatBytes(decoderBytes, Math.ceil);
    throw tooLarge(`The image needs ${needed} of memory to decode`, formatBytes(maxDecoderBytes, Math.floor));
  }
}

function tooLarge(finding: string, limit: string): FaceError {
  return new FaceError("imageTooLarge", `${finding} and the limit is ${limit}.`);
}

type Round = (value: number) => number;

function formatBytes(bytes: number, round: Round): string {
  return bytes < MEBIBYTE ? `${bytes} bytes` : `${round((bytes / MEBIBYTE) * 10) / 10} MiB`;
}

function formatPixels(pixels: number, round: Round): string {
  return pixels < MEGAPIXEL ? `${pixels} pixels` : `${round((pixels / MEGAPIXEL) * 10) / 10} megapixels`;
}

function recognizeFormat(bytes: Uint8Array, { formats }: ImageLimits): ImageFormat {
  const format = formats.find((accepted) => FORMATS[accepted].matches(bytes));
  if (format) return format;
  const names = formats.map((accepted) => FORMATS[accepted].name);
  const negation = names.length > 1 ? "neither" : "not";
  throw new FaceError("unsupportedFormat", `The image is ${negation} ${names.join(" nor ")}.`);
}

function uprightSize({ width, height, orientation }: ImageHeader): Size {
  return swapsSides(orientation) ? { width: height, height: width } : { width, height };
}

function workingSize({ width, height }: Size): Size {
  const longerSide = Math.max(width, height);
  if (longerSide <= MAX_FULL_SIZE_SIDE) return { width, height };
  const scale = DOWNSCALED_SIDE / longerSide;
  return {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  };
}

async function orUnreadable<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof FaceError) throw cause;
    throw new FaceError("unreadableImage", "The image is damaged or incomplete and cannot be read.", {
      cause,
    });
  }
}
