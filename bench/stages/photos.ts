import sharp, { type Sharp } from "sharp";
import type { Box } from "../../src/core/index.ts";
import { readSamplePhoto } from "../../tools/support/sample-photos.ts";

/** A photo to measure with. */
export interface StagePhoto {
  /** How many faces it shows. The smallest are not detected at every size. */
  readonly faces: number;
  readonly width: number;
  readonly height: number;
  readonly bytes: Buffer;
  /** The bounding box of the face that `embed` is asked for. */
  readonly box: Box;
}

const SIZES = [
  { width: 320, height: 240 },
  { width: 640, height: 480 },
  { width: 1920, height: 1280 },
] as const;

/** The part of sample photo 3 that shows one face. */
const ONE_FACE = { left: 820, top: 130, width: 640, height: 480 };

/** Creates photos of 1, 5 and 22 faces in three sizes. Boxes are given as fractions of the sides. */
export async function createStagePhotos(): Promise<StagePhoto[]> {
  const allSamples = await tileSamples();
  const scenes = [
    { faces: 1, image: () => sample(3).extract(ONE_FACE), face: { x1: 0.39, y1: 0.23, x2: 0.75, y2: 0.78 } },
    { faces: 5, image: () => sample(5), face: { x1: 0.3, y1: 0.34, x2: 0.41, y2: 0.53 } },
    { faces: 22, image: () => sharp(allSamples), face: { x1: 0.075, y1: 0.15, x2: 0.105, y2: 0.24 } },
  ];
  return Promise.all(
    scenes.flatMap(({ faces, image, face }) =>
      SIZES.map(async ({ width, height }) => ({
        faces,
        width,
        height,
        bytes: await image().resize(width, height, { fit: "fill" }).jpeg({ quality: 90 }).toBuffer(),
        box: { x1: face.x1 * width, y1: face.y1 * height, x2: face.x2 * width, y2: face.y2 * height },
      })),
    ),
  );
}

function sample(number: number): Sharp {
  return sharp(readSamplePhoto(number));
}

/** Arranges the six sample photos in two rows, as PNG. */
async function tileSamples(): Promise<Buffer> {
  const [width, height] = [960, 640];
  const tiles = await Promise.all(
    [1, 2, 3, 4, 5, 6].map(async (number, i) => ({
      input: await sample(number).resize(width, height, { fit: "fill" }).png().toBuffer(),
      left: (i % 3) * width,
      top: Math.floor(i / 3) * height,
    })),
  );
  const canvas = { width: 3 * width, height: 2 * height, channels: 3, background: "black" } as const;
  return sharp({ create: canvas }).composite(tiles).png().toBuffer();
}
