import { writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp, { type Sharp } from "sharp";
import { readSamplePhoto } from "../../tools/support/sample-photos.ts";

/** Photo sizes. */
export const SIZES = ["320x240", "640x480", "1920x1280"] as const;
export type Size = (typeof SIZES)[number];

/** Face counts of the composed images. Their faces have the same size, except in the last, a crowd of 14 by 14. */
export const FACE_COUNTS = [1, 4, 8, 20, 196] as const;
export type FaceCount = (typeof FACE_COUNTS)[number];

/** Widths of the same photo. Each has four times the pixels of the one before. */
export const WIDTHS = [1024, 2048, 4096] as const;
export type Width = (typeof WIDTHS)[number];

/** The JPEG files of a benchmark run. */
export interface Photos {
  oneFace(size: Size): string;
  /** A photo of another person, at 640x480. */
  readonly otherPerson: string;
  fiveFaces(size: Size): string;
  /** The given number of faces, composed on a canvas of 1600x1600. */
  composed(count: FaceCount): string;
  /** A photo of three faces at the given width. */
  threeFaces(width: Width): string;
}

/** Squares around heads in the sample photos. */
const HEAD_SIDE = 320;
const HEADS: readonly { readonly sample: number; readonly left: number; readonly top: number }[] = [
  { sample: 1, left: 1416, top: 166 },
  { sample: 1, left: 774, top: 388 },
  { sample: 3, left: 1024, top: 212 },
  { sample: 4, left: 171, top: 168 },
  { sample: 4, left: 593, top: 34 },
  { sample: 5, left: 312, top: 871 },
  { sample: 5, left: 1353, top: 380 },
  { sample: 6, left: 617, top: 333 },
];

const CANVAS_SIDE = 1600;
/** The fewest tiles in a row. */
const MIN_TILES_PER_ROW = 5;

/** Creates the photos in a folder from the sample photos of the peer's package. */
export async function createPhotos(folder: string): Promise<Photos> {
  const fileOf = (name: string) => join(folder, `${name}.jpg`);
  const write = async (name: string, image: Sharp) =>
    writeFileSync(fileOf(name), await image.jpeg({ quality: 90 }).toBuffer());

  const oneFace = sharp(readSamplePhoto(1)).extract({ left: 1200, top: 100, width: 720, height: 540 });
  const otherPerson = sharp(readSamplePhoto(4)).extract({ left: 0, top: 90, width: 640, height: 480 });
  await write("other-person", otherPerson);
  for (const size of SIZES) {
    const [width, height] = size.split("x").map(Number);
    await write(`one-face-${size}`, oneFace.clone().resize(width, height));
    await write(`five-faces-${size}`, sharp(readSamplePhoto(5)).resize(width, height));
  }
  for (const count of FACE_COUNTS) await write(`composed-${count}`, await composeFaces(count));
  for (const width of WIDTHS) await write(`three-faces-${width}`, sharp(readSamplePhoto(1)).resize(width));

  return {
    oneFace: (size) => fileOf(`one-face-${size}`),
    otherPerson: fileOf("other-person"),
    fiveFaces: (size) => fileOf(`five-faces-${size}`),
    composed: (count) => fileOf(`composed-${count}`),
    threeFaces: (width) => fileOf(`three-faces-${width}`),
  };
}

async function composeFaces(count: number): Promise<Sharp> {
  const tilesPerRow = Math.max(MIN_TILES_PER_ROW, Math.ceil(Math.sqrt(count)));
  const side = Math.floor(CANVAS_SIDE / tilesPerRow);
  const heads = await Promise.all(
    HEADS.map(({ sample, left, top }) =>
      sharp(readSamplePhoto(sample))
        .extract({ left, top, width: HEAD_SIDE, height: HEAD_SIDE })
        .resize(side)
        .png()
        .toBuffer(),
    ),
  );
  const tiles = Array.from({ length: count }, (_, i) => ({
    input: heads[i % heads.length]!,
    left: side * (i % tilesPerRow),
    top: side * Math.floor(i / tilesPerRow),
  }));
  const canvas = { width: CANVAS_SIDE, height: CANVAS_SIDE, channels: 3, background: "#808080" } as const;
  return sharp({ create: canvas }).composite(tiles);
}
