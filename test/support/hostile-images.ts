import { deflateSync } from "node:zlib";
import { endlessExif, withExif } from "./hand-made-exif.ts";
import { greyJpeg, manyScanJpeg } from "./hand-made-jpeg.ts";
import { blankRows, chunk, pngOf, segment, withChunks, withSegments } from "./images.ts";

/** The text as bytes, one a character. */
export function latin(text: string): Buffer {
  return Buffer.from(text, "latin1");
}

/** 300 kB that swell to more zeros than the largest image here has bytes. */
export const SWELLING = deflateSync(Buffer.alloc(320_000_000), { level: 9 });

/** A whole and sound PNG of one bit a pixel. */
export function bitPng(side: number): Buffer {
  return pngOf(side, side, 1, 0, blankRows(side, side / 8));
}

/** The JPEG with a colour profile in so many segments. */
export function withProfile(jpeg: Buffer, parts: number, bytesEach: number): Buffer {
  const part = (i: number) =>
    Buffer.concat([latin("ICC_PROFILE\0"), Buffer.from([i, parts]), Buffer.alloc(bytesEach)]);
  return withSegments(jpeg, ...Array.from({ length: parts }, (_, i) => segment(0xe2, part(i + 1))));
}

/** The JPEG with very many of the smallest segments of a kind. */
export function withTinySegments(jpeg: Buffer, marker: number, content: Uint8Array, count: number): Buffer {
  return withSegments(jpeg, Buffer.alloc(count * (4 + content.length), segment(marker, content)));
}

/** The PNG with an optional chunk of this type that swells when it is unpacked. */
export function withSwelling(png: Buffer, type: "iCCP" | "zTXt" | "iTXt"): Buffer {
  const heads = { iCCP: "p\0\0", zTXt: "t\0\0", iTXt: "t\0\x01\0\0\0" };
  return withChunks(png, chunk(type, Buffer.concat([latin(heads[type]), SWELLING])));
}

/** Small files that would take hundreds of megabytes or many seconds where they were believed. */
export function smallBombs(jpeg: Buffer, png: Buffer): Readonly<Record<string, Buffer>> {
  const swelling = chunk("zTXt", Buffer.concat([latin("t\0\0"), deflateSync(Buffer.alloc(7_900_000))]));
  return {
    "a PNG of 100 megapixels": bitPng(10_000),
    "a PNG of 900 megapixels": bitPng(30_000),
    "a PNG header of 90,000 megapixels": pngOf(300_000, 300_000, 16, 6, blankRows(1, 1000)),
    "a JPEG header of 4,294 megapixels": greyJpeg({ width: 65_535, height: 65_535 }).subarray(0, 20_000),
    "an interlaced PNG of 64 bits a pixel": interlacedPng(6300),
    "a wide PNG of 64 bits a pixel": widePng(),
    "a progressive JPEG in three full components": manyScanJpeg(
      { width: 6300, height: 6300, isColour: true },
      4,
    ),
    "a JPEG in a thousand scans": manyScanJpeg({ width: 6300, height: 6300 }, 880),
    "a JPEG with endless EXIF": withExif(jpeg, endlessExif()),
    "a JPEG of tiny segments": withTinySegments(jpeg, 0xe1, Buffer.alloc(0), 100_000),
    "a profile of 300 MB in a PNG": withSwelling(png, "iCCP"),
    "a text of 300 MB in a PNG": withSwelling(png, "iTXt"),
    "100 texts of 8 MB in a PNG": withChunks(png, ...Array.from({ length: 100 }, () => swelling)),
    "a PNG whose data go on for 300 MB": pngOf(64, 64, 8, 2, chunk("IDAT", SWELLING)),
  };
}

/** A sound PNG of 40 megapixels whose rows are so long that all of them are in memory at one time. */
export function widePng(): Buffer {
  return pngOf(65_535, 610, 16, 6, chunk("IDAT", SWELLING));
}

/** A sound PNG that is in memory as a whole. */
function interlacedPng(side: number): Buffer {
  const png = pngOf(side, side, 16, 6);
  const header = Buffer.from(png.subarray(16, 29));
  header.writeUInt8(1, 12);
  return Buffer.concat([png.subarray(0, 8), chunk("IHDR", header), chunk("IDAT", SWELLING), chunk("IEND")]);
}
