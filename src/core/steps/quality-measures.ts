import { withInputTensor } from "../crop/kernel-memory.ts";
import { type Box, type Pixels, type SimilarityTransform, transformPoint } from "../geometry.ts";
import { align, alignmentTransform, TEMPLATE, TEMPLATE_SIDE } from "./align.ts";
import type { Detection, FivePoints } from "./detect.ts";
import { LUMA } from "./light.ts";
import { fivePointsOf, type Mesh } from "./mesh.ts";
import type { Pose } from "./pose.ts";
import type { QualityMeasures } from "./quality.ts";

/** What is known of a face before its quality is measured. */
export interface FaceToMeasure {
  readonly points: FivePoints;
  /** As the detector sees it. */
  readonly seen: Detection;
  readonly light: number;
  readonly mesh: Mesh;
  readonly pose: Pose;
}

const EYE_DISTANCE = TEMPLATE[1]!.x - TEMPLATE[0]!.x;

/** Half the width and height of an eye in the template. */
const EYE = { x: 8, y: 4 };

/** The border of the template around the face, as a share of its side. */
const BORDER = 1 / 7;

/** Pixels from this luma on are white. */
const WHITE = 250;

/** Step, in pixels of the crop, at which the share inside the image is sampled. */
const CROP_STEP = 8;

/** Added to contrasts, so that an image of one colour has none instead of being divided by zero. */
const MIN_CONTRAST = 1e-3;

/** A square grey image, 0 to 255. */
interface Grey {
  readonly side: number;
  readonly values: Float32Array;
}

/** Measures the components of quality in the crop that the embedding network gets. */
export async function measureComponents(image: Pixels, face: FaceToMeasure): Promise<QualityMeasures> {
  const { points, mesh, pose } = face;
  const toImage = alignmentTransform(points);
  const eyeDistance = EYE_DISTANCE * Math.hypot(toImage.a, toImage.b);
  const crop = await readCrop(image, points);
  const half = halve(crop);
  const quarter = halve(half);
  const inside = pixelsOf(crop, innerPart(crop));
  const eyes = TEMPLATE.slice(0, 2).map(({ x, y }) =>
    pixelsOf(crop, { x1: x - EYE.x, y1: y - EYE.y, x2: x + EYE.x, y2: y + EYE.y }),
  );
  return {
    interEyeDistance: eyeDistance,
    illumination: face.light,
    overExposure: inside.filter((value) => value >= WHITE).length / inside.length,
    sharpness: contrastOfDetails(quarter) / contrastOfDetails(halve(quarter)),
    noise: contrastOfDetails(crop) / contrastOfDetails(half),
    yaw: Math.abs(pose.yawDegrees),
    pitch: Math.abs(pose.pitchDegrees),
    roll: Math.abs(pose.rollDegrees),
    eyesVisible: Math.min(...eyes.map(deviationOf)) / deviationOf(inside),
    faceOcclusion: differenceOf(face.seen.points, fivePointsOf(mesh)) / eyeDistance,
    detectionConfidence: face.seen.score,
    crop: shareInImage(image, toImage),
  };
}

/** Returns the aligned crop in grey. */
function readCrop(image: Pixels, points: FivePoints): Promise<Grey> {
  const count = TEMPLATE_SIDE ** 2;
  const writer = align(image, points);
  return withInputTensor(async (tensor) => {
    const planes = tensor.subarray(0, 3 * count);
    writer.write(planes);
    const values = new Float32Array(count);
    for (let i = 0; i < count; i++)
      values[i] =
        LUMA.red * planes[i]! + LUMA.green * planes[count + i]! + LUMA.blue * planes[2 * count + i]!;
    return { side: TEMPLATE_SIDE, values };
  });
}

/** Halves an image: each pixel is the mean of four. */
function halve({ side, values }: Grey): Grey {
  const half = side / 2;
  const means = new Float32Array(half ** 2);
  for (let y = 0; y < half; y++)
    for (let x = 0; x < half; x++) {
      const at = 2 * (y * side + x);
      means[y * half + x] = (values[at]! + values[at + 1]! + values[at + side]! + values[at + side + 1]!) / 4;
    }
  return { side: half, values: means };
}

/** The root mean square of the differences between each pixel of the face and the mean of its four neighbours. */
function contrastOfDetails(image: Grey): number {
  const { side, values } = image;
  const { x1, y1, x2, y2 } = innerPart(image);
  let total = 0;
  for (let y = y1; y < y2; y++)
    for (let x = x1; x < x2; x++) {
      const at = y * side + x;
      const around = values[at - 1]! + values[at + 1]! + values[at - side]! + values[at + side]!;
      total += (values[at]! - around / 4) ** 2;
    }
  return Math.sqrt(total / ((x2 - x1) * (y2 - y1))) + MIN_CONTRAST;
}

/** The part of the aligned crop that shows the face. */
function innerPart({ side }: Grey): Box {
  const border = Math.round(BORDER * side);
  return { x1: border, y1: border, x2: side - border, y2: side - border };
}

function pixelsOf({ side, values }: Grey, { x1, y1, x2, y2 }: Box): number[] {
  const pixels: number[] = [];
  for (let y = Math.round(y1); y < Math.round(y2); y++)
    pixels.push(...values.subarray(y * side + Math.round(x1), y * side + Math.round(x2)));
  return pixels;
}

function deviationOf(values: readonly number[]): number {
  const mean = values.reduce((total, value) => total + value, 0) / values.length;
  const squares = values.reduce((total, value) => total + (value - mean) ** 2, 0);
  return Math.sqrt(squares / values.length) + MIN_CONTRAST;
}

/** The share of the crop that lies in the image. */
function shareInImage({ width, height }: Pixels, toImage: SimilarityTransform): number {
  let [inside, count] = [0, 0];
  for (let row = CROP_STEP; row < TEMPLATE_SIDE; row += CROP_STEP)
    for (let column = CROP_STEP; column < TEMPLATE_SIDE; column += CROP_STEP) {
      const { x, y } = transformPoint(toImage, { x: column, y: row });
      if (x >= 0 && y >= 0 && x < width && y < height) inside++;
      count++;
    }
  return inside / count;
}

/** The root mean square distance between points. */
function differenceOf(points: FivePoints, others: FivePoints): number {
  const squares = points.map(({ x, y }, i) => (x - others[i]!.x) ** 2 + (y - others[i]!.y) ** 2);
  return Math.sqrt(squares.reduce((total, square) => total + square, 0) / squares.length);
}
