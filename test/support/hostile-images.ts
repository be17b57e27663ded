import { deflateSync } from "node:zlib";
import { createCyclicExif, withExif } from "./crafted-exif.ts";
import { createGreyJpeg, createManyScanJpeg } from "./crafted-jpeg.ts";
import { blankDataChunk, createPng, jpegSegment, pngChunk, withChunks, withSegments } from "./images.ts";

/** Encodes a text with one byte per character. */
export function latin1(text: string): Buffer {
  return Buffer.from(text, "latin1");
}

/** 300 kB that decompress to 320 MB of zeros, more than the largest image here has. */
export const DEFLATE_BOMB = deflateSync(Buffer.alloc(320_000_000), { level: 9 });

/** Creates a valid PNG with one bit per pixel. */
export function createBitPng(side: number): Buffer {
  return createPng(side, side, 1, 0, blankDataChunk(side, side / 8));
}

/** Inserts an ICC profile into a JPEG, split into `parts` segments. */
export function withProfile(jpeg: Buffer, parts: number, bytesEach: number): Buffer {
  const part = (i: number) =>
    Buffer.concat([latin1("ICC_PROFILE\0"), Buffer.from([i, parts]), Buffer.alloc(bytesEach)]);
  return withSegments(jpeg, ...Array.from({ length: parts }, (_, i) => jpegSegment(0xe2, part(i + 1))));
}

/** Inserts many tiny segments of one kind into a JPEG. */
export function withTinySegments(jpeg: Buffer, marker: number, content: Uint8Array, count: number): Buffer {
  return withSegments(jpeg, Buffer.alloc(count * (4 + content.length), jpegSegment(marker, content)));
}

/** Inserts an ancillary chunk with a decompression bomb into a PNG. */
export function withDeflateBomb(png: Buffer, type: "iCCP" | "zTXt" | "iTXt"): Buffer {
  const prefixes = { iCCP: "p\0\0", zTXt: "t\0\0", iTXt: "t\0\x01\0\0\0" };
  return withChunks(png, pngChunk(type, Buffer.concat([latin1(prefixes[type]), DEFLATE_BOMB])));
}

/** Creates small files that cost a naive decoder hundreds of megabytes or many seconds. */
export function createBombs(jpeg: Buffer, png: Buffer): Readonly<Record<string, Buffer>> {
  const textBomb = pngChunk("zTXt", Buffer.concat([latin1("t\0\0"), deflateSync(Buffer.alloc(7_900_000))]));
  return {
    "a PNG of 100 megapixels": createBitPng(10_000),
    "a PNG of 900 megapixels": createBitPng(30_000),
    "a PNG header of 90,000 megapixels": createPng(300_000, 300_000, 16, 6, blankDataChunk(1, 1000)),
    "a JPEG header of 4,294 megapixels": createGreyJpeg({ width: 65_535, height: 65_535 }).subarray(
      0,
      20_000,
    ),
    "an interlaced PNG of 64 bits per pixel": createInterlacedPng(6300),
    "a wide PNG of 64 bits per pixel": createWidePng(),
    "a progressive JPEG of three components without subsampling": createManyScanJpeg(
      { width: 6300, height: 6300, isColour: true },
      4,
    ),
    "a JPEG of a thousand scans": createManyScanJpeg({ width: 6300, height: 6300 }, 880),
    "a JPEG with cyclic EXIF": withExif(jpeg, createCyclicExif()),
    "a JPEG of many tiny segments": withTinySegments(jpeg, 0xe1, Buffer.alloc(0), 100_000),
    "an ICC profile of 300 MB in a PNG": withDeflateBomb(png, "iCCP"),
    "a text of 300 MB in a PNG": withDeflateBomb(png, "iTXt"),
    "100 texts of 8 MB in a PNG": withChunks(png, ...Array.from({ length: 100 }, () => textBomb)),
    "a PNG with 300 MB of data after its last row": createPng(64, 64, 8, 2, pngChunk("IDAT", DEFLATE_BOMB)),
  };
}

/** Creates a valid PNG of 40 megapixels with rows so long that the decoder holds all of them in memory. */
export function createWidePng(): Buffer {
  return createPng(65_535, 610, 16, 6, pngChunk("IDAT", DEFLATE_BOMB));
}

/** Creates a valid interlaced PNG, which the decoder holds in memory as a whole. */
function createInterlacedPng(side: number): Buffer {
  const png = createPng(side, side, 16, 6);
  const header = Buffer.from(png.subarray(16, 29));
  header.writeUInt8(1, 12);
  return Buffer.concat([
    png.subarray(0, 8),
    pngChunk("IHDR", header),
    pngChunk("IDAT", DEFLATE_BOMB),
    pngChunk("IEND"),
  ]);
}
