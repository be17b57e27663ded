import { readFileSync } from "node:fs";
import { join } from "node:path";
import sharp, { type Sharp } from "sharp";
import type { Box } from "../src/core/index.ts";
import { PACKAGE_ROOT } from "../src/model-manifest.ts";

/** A photograph to measure with. */
export interface BenchPhoto {
  /** How many faces it shows; the smallest are not found at every size. */
  readonly faces: number;
  readonly width: number;
  readonly height: number;
  readonly bytes: Buffer;
  /** Around the face that `embed` takes when it is told where. */
  readonly box: Box;
}

const SIZES = [
  { width: 320, height: 240 },
  { width: 640, height: 480 },
  { width: 1920, height: 1280 },
] as const;

/** A woman alone in the third sample photograph, and where her face is in that part, as shares of its sides. */
const ALONE = { left: 820, top: 130, width: 640, height: 480 };
const FACE = { x1: 0.39, y1: 0.23, x2: 0.75, y2: 0.78 };

/** Photographs of one, five and 22 faces at three sizes, made of those that come with a package of ours. */
export async function makePhotos(): Promise<BenchPhoto[]> {
  const scenes = [
    { faces: 1, image: () => sample(3).extract(ALONE), face: FACE },
    { faces: 5, image: () => sample(5), face: { x1: 0.3, y1: 0.34, x2: 0.41, y2: 0.53 } },
    { faces: 22, image: await allSamples(), face: { x1: 0.075, y1: 0.15, x2: 0.105, y2: 0.24 } },
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
  return sharp(
    readFileSync(join(PACKAGE_ROOT, `node_modules/@vladmandic/face-api/demo/sample${number}.jpg`)),
  );
}

/** The six sample photographs in two rows. */
async function allSamples(): Promise<() => Sharp> {
  const [width, height] = [960, 640];
  const tiles = await Promise.all(
    [1, 2, 3, 4, 5, 6].map(async (number, i) => ({
      input: await sample(number).resize(width, height, { fit: "fill" }).png().toBuffer(),
      left: (i % 3) * width,
      top: Math.floor(i / 3) * height,
    })),
  );
  const canvas = { width: 3 * width, height: 2 * height, channels: 3, background: "black" } as const;
  const whole = await sharp({ create: canvas }).composite(tiles).png().toBuffer();
  return () => sharp(whole);
}
