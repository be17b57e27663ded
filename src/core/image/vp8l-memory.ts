import { BitReader } from "./bit-reader.ts";
import { type PrefixCode, readPrefixCode } from "./prefix-code.ts";

// The names are those of the specification of VP8L, the lossless bitstream of WebP (RFC 9649, section 3).

const PREDICTOR_TRANSFORM = 0;
const COLOR_TRANSFORM = 1;
const COLOR_INDEXING_TRANSFORM = 3;

const LITERALS = 256;
const LENGTH_CODES = 24;
const DISTANCE_CODES = 40;
const MAX_COLOR_CACHE_BITS = 11;
const BYTES_PER_PIXEL = 4;

/** Entries of libwebp's tables for the red, blue, alpha and distance codes of a group, four bytes each. */
const FIXED_TABLE_ENTRIES = 3 * 630 + 410;
/** Entries of libwebp's table for the green code, by the bits of the color cache. */
const GREEN_TABLE_ENTRIES = [654, 656, 658, 662, 670, 686, 718, 782, 912, 1168, 1680, 2704];
/** What libwebp holds for a group beside its tables. */
const GROUP_BYTES = 568;

/** The parts of an image stream that decide how much memory it takes. */
interface Stream {
  /** Width of the image in memory: the indices of a small palette are packed. */
  width: number;
  /** Pixels of the images beside the main one: transform data, palette, entropy image. */
  subImagePixels: number;
}

/**
 * Estimates the bytes that libwebp holds to decode a lossless image: four for each pixel, and the tables of every
 * prefix code group. There may be 65,536 groups, whose tables take 700 MB, in a file of 300 kB. So this reads the
 * stream up to the entropy image, which assigns a group to each block of pixels.
 *
 * Throws RangeError if the stream is invalid up to there. Takes time in proportion to the pixels, at most three for
 * each block of 16.
 */
export function estimateVp8lMemory(stream: Uint8Array, width: number, height: number): number {
  const bits = new BitReader(stream);
  const image: Stream = { width, subImagePixels: 0 };
  readTransforms(bits, image, height);
  const colorCacheBits = readColorCacheBits(bits);
  const groups = readGroupCount(bits, image, height);
  const tableEntries = FIXED_TABLE_ENTRIES + GREEN_TABLE_ENTRIES[colorCacheBits]!;
  const pixels = image.width * height + image.subImagePixels;
  return pixels * BYTES_PER_PIXEL + groups * (tableEntries * 4 + GROUP_BYTES);
}

function readTransforms(bits: BitReader, image: Stream, height: number): void {
  const seen = new Set<number>();
  while (bits.read(1) === 1) {
    const type = bits.read(2);
    if (seen.has(type)) throw new RangeError("VP8L has a transform twice");
    seen.add(type);
    if (type === PREDICTOR_TRANSFORM || type === COLOR_TRANSFORM) {
      const blockBits = bits.read(3) + 2;
      readSubImage(bits, image, blocksOf(image.width, blockBits), blocksOf(height, blockBits));
    } else if (type === COLOR_INDEXING_TRANSFORM) {
      const colors = bits.read(8) + 1;
      readSubImage(bits, image, colors, 1);
      image.width = blocksOf(image.width, packedPixelBits(colors));
    }
  }
}

/** The logarithm of the number of indices that share a pixel. */
function packedPixelBits(colors: number): number {
  if (colors > 16) return 0;
  return colors > 4 ? 1 : colors > 2 ? 2 : 3;
}

function readColorCacheBits(bits: BitReader): number {
  if (bits.read(1) === 0) return 0;
  const cacheBits = bits.read(4);
  if (cacheBits < 1 || cacheBits > MAX_COLOR_CACHE_BITS) throw new RangeError("VP8L has a wrong color cache");
  return cacheBits;
}

function readGroupCount(bits: BitReader, image: Stream, height: number): number {
  if (bits.read(1) === 0) return 1;
  const blockBits = bits.read(3) + 2;
  return readSubImage(bits, image, blocksOf(image.width, blockBits), blocksOf(height, blockBits));
}

/**
 * Reads an image beside the main one. Returns the number of different groups that it would assign as an entropy image:
 * of different values of red and green. Copied pixels and those of the color cache have the value of a literal one.
 */
function readSubImage(bits: BitReader, image: Stream, width: number, height: number): number {
  const colorCacheBits = readColorCacheBits(bits);
  const cacheSize = colorCacheBits === 0 ? 0 : 1 << colorCacheBits;
  const green = readPrefixCode(bits, LITERALS + LENGTH_CODES + cacheSize);
  const red = readPrefixCode(bits, LITERALS);
  const blue = readPrefixCode(bits, LITERALS);
  const alpha = readPrefixCode(bits, LITERALS);
  const distance = readPrefixCode(bits, DISTANCE_CODES);
  const groups = new Uint8Array(LITERALS * LITERALS);
  const pixels = width * height;
  for (let count = 0; count < pixels; ) {
    const symbol = green.read(bits);
    if (symbol < LITERALS) {
      groups[(red.read(bits) << 8) | symbol] = 1;
      blue.read(bits);
      alpha.read(bits);
      count++;
    } else if (symbol < LITERALS + LENGTH_CODES) {
      count += readLength(bits, symbol - LITERALS);
      skipDistance(bits, distance);
    } else count++;
    if (count > pixels) throw new RangeError("VP8L has a copy beyond its image");
  }
  image.subImagePixels += pixels;
  return groups.reduce((sum, isUsed) => sum + isUsed, 0);
}

/** Reads the rest of a length or a distance after its prefix. */
function readLength(bits: BitReader, prefix: number): number {
  if (prefix < 4) return prefix + 1;
  const extraBits = (prefix - 2) >> 1;
  return ((2 + (prefix & 1)) << extraBits) + bits.read(extraBits) + 1;
}

function skipDistance(bits: BitReader, distance: PrefixCode): void {
  readLength(bits, distance.read(bits));
}

function blocksOf(size: number, blockBits: number): number {
  return (size + (1 << blockBits) - 1) >> blockBits;
}
