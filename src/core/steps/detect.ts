import { crop } from "../crop/crop.ts";
import { cropTransform, iou, type SimilarityTransform, type Square, transformPoint } from "../geometry.ts";
import type { Network } from "../networks.ts";
import type { Box, Pixels, Point } from "../types.ts";

/** A face candidate of the detector. */
export interface Detection {
  readonly box: Box;
  /** Detection score, 0 to 1. */
  readonly score: number;
  /** Centres of the eyes: first the one on the left of an upright image, then the other. */
  readonly eyes: readonly [Point, Point];
}

const SIDE = 256;
const NORMALIZATION = { scale: 1 / 127.5, offset: -1 };

/** Candidates below this score are noise; any photo has hundreds of them. */
const MIN_SCORE = 0.2;

/** The minimum score as a logit, which is what the network outputs. */
const MIN_LOGIT = Math.log(MIN_SCORE / (1 - MIN_SCORE));

/** Two detections whose boxes have a larger IoU are the same face. */
export const SAME_FACE_IOU = 0.3;

/** Values per anchor: box centre x and y, width, height, then x and y of six keypoints. */
const VALUES_PER_ANCHOR = 16;
const LEFT_EYE = 4;
const RIGHT_EYE = 6;

/** Anchor centres in pixels of the network's input: two per cell of a 16x16 grid, then six per cell of an 8x8 grid. */
const ANCHORS: readonly Point[] = [...createAnchors(16, 2), ...createAnchors(8, 6)];

/**
 * Detects faces in one or more square views of an image (letterboxed as a whole, or tiles). Returns the detections in
 * the image's pixels, best score first, after non-maximum suppression over all views.
 */
export async function detect(
  network: Network,
  image: Pixels,
  views: readonly Square[],
): Promise<Detection[]> {
  const transforms = views.map((view) => cropTransform(view, SIDE));
  const { scores, boxes } = await network.run(
    transforms.map((transform) => crop(image, transform, SIDE, NORMALIZATION)),
  );
  return suppressNonMaxima(
    transforms.flatMap((transform, i) => decodeDetections(transform, scores![i]!, boxes![i]!)),
  );
}

/** Returns the square that letterboxes a whole image. A `margin` above 1 adds black around it. */
export function wholeView(image: Pixels, margin = 1): Square {
  const { width, height } = image;
  return { center: { x: width / 2, y: height / 2 }, side: Math.max(width, height) * margin, radians: 0 };
}

function createAnchors(cells: number, perCell: number): Point[] {
  const stride = SIDE / cells;
  return Array.from({ length: cells * cells * perCell }, (_, i) => {
    const cell = Math.floor(i / perCell);
    return { x: ((cell % cells) + 0.5) * stride, y: (Math.floor(cell / cells) + 0.5) * stride };
  });
}

function decodeDetections(
  transform: SimilarityTransform,
  logits: Float32Array,
  values: Float32Array,
): Detection[] {
  const detections: Detection[] = [];
  for (const [i, anchor] of ANCHORS.entries()) {
    if (logits[i]! < MIN_LOGIT) continue;
    const anchorValues = values.subarray(i * VALUES_PER_ANCHOR, (i + 1) * VALUES_PER_ANCHOR);
    detections.push(decodeDetection(anchor, transform, logits[i]!, anchorValues));
  }
  return detections;
}

function decodeDetection(
  anchor: Point,
  transform: SimilarityTransform,
  logit: number,
  values: Float32Array,
): Detection {
  const scale = Math.hypot(transform.a, transform.b);
  const pointAt = (i: number) =>
    transformPoint(transform, { x: anchor.x + values[i]!, y: anchor.y + values[i + 1]! });
  const { x, y } = pointAt(0);
  const halfWidth = (values[2]! * scale) / 2;
  const halfHeight = (values[3]! * scale) / 2;
  return {
    box: { x1: x - halfWidth, y1: y - halfHeight, x2: x + halfWidth, y2: y + halfHeight },
    score: 1 / (1 + Math.exp(-logit)),
    eyes: [pointAt(LEFT_EYE), pointAt(RIGHT_EYE)],
  };
}

/** Non-maximum suppression: keeps the best-scored of overlapping detections. */
function suppressNonMaxima(detections: readonly Detection[]): Detection[] {
  const kept: Detection[] = [];
  for (const detection of detections.toSorted((one, other) => other.score - one.score))
    if (kept.every(({ box }) => iou(box, detection.box) <= SAME_FACE_IOU)) kept.push(detection);
  return kept;
}
