import sharp, { type Sharp } from "sharp";
import { expect } from "vitest";
import { iou } from "../../src/core/geometry.ts";
import {
  type Analyzer,
  type Box,
  DEFAULT_MODELS_DIR,
  type Face,
  openAnalyzer,
  type Point,
  poseOf,
} from "../../src/core/index.ts";
import { EMBEDDING_NORM } from "../../src/core/steps/embed.ts";
import { photograph } from "./images.ts";

/** Numbers of the sample photographs. */
export const SAMPLES = [1, 2, 3, 4, 5, 6] as const;

export type Sample = (typeof SAMPLES)[number];

/** Boxes of the 22 faces in the photographs, labelled by hand, from left to right. */
export const FACES: Readonly<Record<Sample, readonly Box[]>> = {
  1: [boxOf(418, 388, 600, 596), boxOf(832, 446, 1037, 651), boxOf(1477, 227, 1676, 425)],
  2: [boxOf(360, 179, 535, 388), boxOf(901, 276, 1074, 452), boxOf(1440, 182, 1653, 389)],
  3: [boxOf(593, 353, 802, 598), boxOf(1070, 240, 1299, 503), boxOf(1474, 326, 1689, 570)],
  4: [
    boxOf(241, 222, 421, 435),
    boxOf(659, 86, 848, 302),
    boxOf(986, 213, 1164, 416),
    boxOf(1267, 172, 1454, 386),
  ],
  5: [
    boxOf(358, 897, 586, 1165),
    boxOf(591, 445, 768, 664),
    boxOf(776, 127, 950, 332),
    boxOf(1112, 223, 1290, 438),
    boxOf(1407, 418, 1619, 662),
  ],
  6: [
    boxOf(248, 516, 470, 760),
    boxOf(670, 365, 884, 622),
    boxOf(1168, 352, 1372, 576),
    boxOf(1478, 294, 1702, 556),
  ],
};

/** A labelled face. */
export interface KnownFace {
  /** Such as "sample 2, face 0". */
  readonly name: string;
  readonly sample: Sample;
  readonly box: Box;
}

export const ALL_FACES: readonly KnownFace[] = SAMPLES.flatMap((sample) =>
  FACES[sample].map((box, i) => ({ name: `sample ${sample}, face ${i}`, sample, box })),
);

/** The only face in profile. Half of its mesh is a guess, so it is excluded from tight tolerances. */
export const PROFILE = "sample 2, face 0";

/** The only face covered by hair, looking down. */
export const COVERED = "sample 2, face 1";

/** Opens an analyzer with the real networks. Open one per test file, and close it. */
export function openRealAnalyzer(): Promise<Analyzer> {
  return openAnalyzer({ modelsDir: DEFAULT_MODELS_DIR });
}

/** Returns a box by its edges. */
export function boxOf(x1: number, y1: number, x2: number, y2: number): Box {
  return { x1, y1, x2, y2 };
}

/** Scales a box around its centre. */
export function growBox({ x1, y1, x2, y2 }: Box, factor: number): Box {
  const x = ((x2 - x1) * (factor - 1)) / 2;
  const y = ((y2 - y1) * (factor - 1)) / 2;
  return boxOf(x1 - x, y1 - y, x2 + x, y2 + y);
}

/** Rounds a box to whole pixels, as in the API. */
export function roundBox({ x1, y1, x2, y2 }: Box): Box {
  return boxOf(Math.round(x1), Math.round(y1), Math.round(x2), Math.round(y2));
}

/** Converts a box to the coordinates of a part of the photograph that begins at `from`, scaled. */
export function relocateBox({ x1, y1, x2, y2 }: Box, from: Point, scale = 1): Box {
  const [left, right] = [(x1 - from.x) * scale, (x2 - from.x) * scale];
  return boxOf(left, (y1 - from.y) * scale, right, (y2 - from.y) * scale);
}

/** Returns the face with the largest IoU with a box. Throws if none reaches 0.3. */
export function faceAt<Face extends { readonly box: Box }>(faces: readonly Face[], box: Box): Face {
  const [best] = faces.toSorted((one, other) => iou(other.box, box) - iou(one.box, box));
  if (!best || iou(best.box, box) < 0.3) throw new Error(`no face at ${JSON.stringify(box)}`);
  return best;
}

/** Whether one of the boxes has at least this IoU with a box. */
export function hasBoxAt(boxes: readonly Box[], box: Box, minIou = 0.3): boolean {
  return boxes.some((other) => iou(other, box) >= minIou);
}

/** Returns the mean distance between two lists of points, relative to the longer side of a box. */
export function meanPointDistance(
  one: readonly Point[],
  other: readonly Point[],
  { x1, y1, x2, y2 }: Box,
): number {
  const total = one.reduce((sum, { x, y }, i) => sum + Math.hypot(x - other[i]!.x, y - other[i]!.y), 0);
  return total / one.length / Math.max(x2 - x1, y2 - y1);
}

/** Expects that every number of a face is finite and within its range, and that its box has an area. */
export function expectUsable(face: Face): void {
  const { box, landmarks, embedding, light, presence, genderConfidence } = face;
  const pose = poseOf(face);
  const coordinates = [...Object.values(box), ...landmarks.flatMap(({ x, y }) => [x, y])];
  const numbers = [...coordinates, ...(embedding ?? []), ...Object.values(pose), light, presence];
  expect(numbers.filter((value) => !Number.isFinite(value))).toEqual([]);
  expect(landmarks).toHaveLength(68);
  expect(Math.hypot(...(embedding ?? [EMBEDDING_NORM]))).toBeCloseTo(EMBEDDING_NORM);
  expect(Math.min(box.x2 - box.x1, box.y2 - box.y1)).toBeGreaterThan(0);
  expect(Math.abs(pose.yawDegrees)).toBeLessThanOrEqual(180);
  expect(presence).toBeGreaterThanOrEqual(0);
  expect(presence).toBeLessThanOrEqual(1);
  expect(light).toBeGreaterThanOrEqual(0);
  expect(light).toBeLessThanOrEqual(255);
  expect(genderConfidence).toBeGreaterThan(0.5);
  expect(genderConfidence).toBeLessThanOrEqual(1);
}

/** Encodes an image without loss. */
export function encodePng(image: Sharp): Promise<Buffer> {
  return image.png({ compressionLevel: 0 }).toBuffer();
}

/** Crops a photograph to a box, which must lie inside it. */
export function cropPhotograph(sample: Sample, box: Box): Sharp {
  const { x1, y1, x2, y2 } = roundBox(box);
  return sharp(photograph(sample)).extract({ left: x1, top: y1, width: x2 - x1, height: y2 - y1 });
}

/** Mirrors a photograph left to right. */
export function mirrorPhotograph(sample: Sample): Promise<Buffer> {
  return encodePng(sharp(photograph(sample)).flop());
}

/** Returns the position of a box in the mirrored photograph. */
export function mirrorBox({ x1, y1, x2, y2 }: Box): Box {
  return boxOf(PHOTOGRAPH_WIDTH - x2, y1, PHOTOGRAPH_WIDTH - x1, y2);
}

/** Width of all the photographs. */
export const PHOTOGRAPH_WIDTH = 1920;

/** A rotated photograph. */
export interface RotatedPhotograph {
  readonly bytes: Buffer;
  /** Returns the square around the rotated position of a face. */
  rotateBox(box: Box): Box;
}

/** Resizes a photograph to a width, then rotates it clockwise on grey. */
export async function rotatePhotograph(
  sample: Sample,
  degrees: number,
  width: number,
): Promise<RotatedPhotograph> {
  const small = await sharp(photograph(sample)).resize(width).png().toBuffer({ resolveWithObject: true });
  const { data: bytes, info } = await sharp(small.data)
    .rotate(degrees, { background: "#808080" })
    .png({ compressionLevel: 0 })
    .toBuffer({ resolveWithObject: true });
  const scale = width / PHOTOGRAPH_WIDTH;
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  return {
    bytes,
    rotateBox({ x1, y1, x2, y2 }) {
      const x = (scale * (x1 + x2) - small.info.width) / 2;
      const y = (scale * (y1 + y2) - small.info.height) / 2;
      const center = { x: x * cos - y * sin + info.width / 2, y: x * sin + y * cos + info.height / 2 };
      const half = (scale * (x2 - x1 + y2 - y1)) / 4;
      return boxOf(center.x - half, center.y - half, center.x + half, center.y + half);
    },
  };
}

/** The counterpart of each of the 68 landmarks in the mirrored face. */
// biome-ignore format: a table
export const MIRRORED_LANDMARKS: readonly number[] = [
  16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
  26, 25, 24, 23, 22,
  21, 20, 19, 18, 17,
  27, 28, 29, 30, 35, 34, 33, 32, 31,
  45, 44, 43, 42, 47, 46,
  39, 38, 37, 36, 41, 40,
  54, 53, 52, 51, 50, 49, 48, 59, 58, 57, 56, 55,
  64, 63, 62, 61, 60, 67, 66, 65,
];

/** Creates an image of `count` labelled faces side by side, each in a square of `side` pixels. */
export async function createCrowd(count: number, side = 128): Promise<Buffer> {
  const columns = Math.ceil(Math.sqrt(count));
  const faces = await Promise.all(
    ALL_FACES.map(({ sample, box }) =>
      cropPhotograph(sample, growBox(box, 1.5)).resize(side, side).png().toBuffer(),
    ),
  );
  const tiles = Array.from({ length: count }, (_, i) => ({
    input: faces[i % faces.length]!,
    left: (i % columns) * side,
    top: Math.floor(i / columns) * side,
  }));
  const [width, height] = [columns * side, Math.ceil(count / columns) * side];
  const background = sharp({ create: { width, height, channels: 3, background: "#808080" } });
  return encodePng(sharp(await background.composite(tiles).png().toBuffer()));
}
