import { crop } from "../crop/crop.ts";
import {
  type Box,
  iou,
  type Pixels,
  type Point,
  type SimilarityTransform,
  transformPoint,
} from "../geometry.ts";
import type { Network } from "../networks.ts";

/** Eyes, tip of the nose and corners of the mouth; of a pair first the one on the left of an upright image. */
export type FivePoints = readonly [Point, Point, Point, Point, Point];

/** A face as the detector sees it. */
export interface Detection {
  readonly box: Box;
  /** Detection score, 0 to 1. */
  readonly score: number;
  readonly points: FivePoints;
  /** Angle of the view in which it was detected, in radians, clockwise. */
  readonly viewRadians: number;
}

/** A part of an image as the detector gets it. */
export interface View {
  /** From pixels of the view to those of the image. */
  readonly transform: SimilarityTransform;
  /** In pixels; multiples of CELL. */
  readonly width: number;
  readonly height: number;
}

/** The sides of the detector's input are multiples of its largest stride. */
export const CELL = 32;
const STRIDES = [8, 16, 32] as const;

/** Two detections whose boxes have a larger IoU are the same face. */
const SAME_FACE_IOU = 0.3;

/** Planes of a feature map: logits of class and object, box, and x and y of each point. */
const PLANES = { class: 0, object: 1, box: 2, points: 6 };

/**
 * Detects the faces in views of one size. Returns for each view the detections of at least this score, in the image's
 * pixels, the best first.
 */
export async function detect(
  network: Network,
  image: Pixels,
  views: readonly View[],
  minScore: number,
): Promise<Detection[][]> {
  const outputs = await network.run(views.map((view) => crop(image, view.transform, view)));
  return views.map((view, i) =>
    suppressNonMaxima(
      STRIDES.flatMap((stride) => decode(outputs[`stride${stride}`]![i]!, stride, view, minScore)),
    ),
  );
}

/** Decodes the feature map of one stride: one candidate for each cell. */
function decode(
  map: Float32Array,
  stride: number,
  { transform, width, height }: View,
  minScore: number,
): Detection[] {
  const [columns, rows] = [width / stride, height / stride];
  const cells = columns * rows;
  const scale = Math.hypot(transform.a, transform.b) * stride;
  const viewRadians = Math.atan2(transform.b, transform.a);
  const isOnItsSide = Math.abs(transform.b) > Math.abs(transform.a);
  const detections: Detection[] = [];
  for (let cell = 0; cell < cells; cell++) {
    const valueAt = (plane: number) => map[plane * cells + cell]!;
    const score = Math.sqrt(sigmoid(valueAt(PLANES.class)) * sigmoid(valueAt(PLANES.object)));
    if (score < minScore) continue;
    const [column, row] = [cell % columns, Math.floor(cell / columns)];
    const pointAt = (plane: number) =>
      transformPoint(transform, {
        x: (column + valueAt(plane)) * stride,
        y: (row + valueAt(plane + 1)) * stride,
      });
    const { x, y } = pointAt(PLANES.box);
    const [across, down] = isOnItsSide ? [3, 2] : [2, 3];
    const halfWidth = (Math.exp(valueAt(PLANES.box + across)) * scale) / 2;
    const halfHeight = (Math.exp(valueAt(PLANES.box + down)) * scale) / 2;
    detections.push({
      box: { x1: x - halfWidth, y1: y - halfHeight, x2: x + halfWidth, y2: y + halfHeight },
      score,
      points: [0, 1, 2, 3, 4].map((i) => pointAt(PLANES.points + 2 * i)) as unknown as FivePoints,
      viewRadians,
    });
  }
  return detections;
}

function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

/** Non-maximum suppression: keeps the best-scored of overlapping detections. */
export function suppressNonMaxima(detections: readonly Detection[]): Detection[] {
  const kept: Detection[] = [];
  for (const detection of detections.toSorted((one, other) => other.score - one.score))
    if (kept.every(({ box }) => iou(box, detection.box) <= SAME_FACE_IOU)) kept.push(detection);
  return kept;
}
