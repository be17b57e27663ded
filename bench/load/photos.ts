import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp, { type Sharp } from "sharp";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";

/** Sizes of photographs, by their text. */
export const SIZES = ["320x240", "640x480", "1920x1280"] as const;

export type Size = (typeof SIZES)[number];

/** How many faces the composed pictures have, all of one size. */
export const FACE_COUNTS = [1, 2, 4, 8] as const;

/** Widths at which one photograph is tried: each four times the pixels of the one before. */
export const WIDTHS = [1024, 2048, 4096] as const;

/** Files of JPEGs made for a run. */
export interface Photos {
  /** One woman. */
  one(size: Size): string;
  /** Another woman, at 640x480. */
  readonly other: string;
  /** Five women. */
  many(size: Size): string;
  /** So many faces side by side on a picture of fixed size. */
  faces(count: (typeof FACE_COUNTS)[number]): string;
  /** Three women at such a width. */
  wide(width: (typeof WIDTHS)[number]): string;
}

interface Square {
  readonly sample: number;
  readonly left: number;
  readonly top: number;
}

/** Heads in the sample photographs, found by eye. */
const HEAD_SIDE = 320;
const HEADS: readonly Square[] = [
  { sample: 1, left: 1416, top: 166 },
  { sample: 1, left: 774, top: 388 },
  { sample: 3, left: 1024, top: 212 },
  { sample: 4, left: 171, top: 168 },
  { sample: 4, left: 593, top: 34 },
  { sample: 5, left: 312, top: 871 },
  { sample: 5, left: 1353, top: 380 },
  { sample: 6, left: 617, top: 333 },
];

const TILE = 256;
const TILES_PER_ROW = 4;

/** Makes the photographs in a folder from those that the peer's package shows itself with. */
export async function makePhotos(folder: string): Promise<Photos> {
  const fileOf = (name: string) => join(folder, `${name}.jpg`);
  const write = async (name: string, picture: Sharp) =>
    writeFileSync(fileOf(name), await picture.jpeg({ quality: 90 }).toBuffer());

  const one = sharp(sample(1)).extract({ left: 1200, top: 100, width: 720, height: 540 });
  const other = sharp(sample(4)).extract({ left: 0, top: 90, width: 640, height: 480 });
  await write("other", other);
  for (const size of SIZES) {
    const [width, height] = size.split("x").map(Number);
    await write(`one-${size}`, one.clone().resize(width, height));
    await write(`many-${size}`, sharp(sample(5)).resize(width, height));
  }
  for (const count of FACE_COUNTS) await write(`faces-${count}`, await composeFaces(count));
  for (const width of WIDTHS) await write(`wide-${width}`, sharp(sample(1)).resize(width));

  return {
    one: (size) => fileOf(`one-${size}`),
    other: fileOf("other"),
    many: (size) => fileOf(`many-${size}`),
    faces: (count) => fileOf(`faces-${count}`),
    wide: (width) => fileOf(`wide-${width}`),
  };
}

async function composeFaces(count: number): Promise<Sharp> {
  const tiles = HEADS.slice(0, count).map(async ({ sample: number, left, top }, i) => ({
    input: await sharp(sample(number))
      .extract({ left, top, width: HEAD_SIDE, height: HEAD_SIDE })
      .resize(TILE)
      .png()
      .toBuffer(),
    left: TILE * (i % TILES_PER_ROW),
    top: TILE * Math.floor(i / TILES_PER_ROW),
  }));
  const [width, height] = [TILE * TILES_PER_ROW, (TILE * HEADS.length) / TILES_PER_ROW];
  return sharp({ create: { width, height, channels: 3, background: "#808080" } }).composite(
    await Promise.all(tiles),
  );
}

/** As bytes: the core, once it is loaded, lets sharp read nothing else. */
function sample(number: number): Buffer {
  return readFileSync(join(PACKAGE_ROOT, `node_modules/@vladmandic/face-api/demo/sample${number}.jpg`));
}
