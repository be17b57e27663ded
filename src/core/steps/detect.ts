import { crop } from "../crop/crop.ts";
import { cropTransform, iou, type SimilarityTransform, type Square, transformPoint } from "../geometry.ts";
import type { Network } from "../networks.ts";
import type { Box, Pixels, Point } from "../types.ts";

/** A place that looks like a face to the detector. */
export interface Detection {
  readonly box: Box;
  /** 0 to 1. */
  readonly score: number;
  /** The eye that is on the left of an upright image, and the other. */
  readonly eyes: readonly [Point, Point];
}

const SIDE = 256;
const RANGE = { scale: 1 / 127.5, offset: -1 };

/** Candidates below this are noise: hundreds of them in any photo. */
const LEAST_SCORE = 0.2;

/** The same as a number of the network's, of which the score is the logistic function. */
const LEAST_LOGIT = Math.log(LEAST_SCORE / (1 - LEAST_SCORE));

/** Two boxes that share more than this part of their joint area are one face. */
export const SAME_FACE_OVERLAP = 0.3;

/** Numbers for each anchor: centre x, y, width, height, then six points. */
const NUMBERS = 16;
const FIRST_EYE = 4;
const SECOND_EYE = 6;

/** The places that the network looks at, in pixels of its input: two a cell on a fine grid, six on a coarse one. */
const ANCHORS: readonly Point[] = [...gridOf(16, 2), ...gridOf(8, 6)];

/**
 * Looks for faces in one or more square views of an image (the whole of it, or tiles) and gives
 * them in the image's pixels, the best first, each only once.
 */
export async function detect(
  network: Network,
  image: Pixels,
  views: readonly Square[],
): Promise<Detection[]> {
  const maps = views.map((view) => cropTransform(view, SIDE));
  const { scores, boxes } = await network.run(maps.map((map) => crop(image, map, SIDE, RANGE)));
  return suppress(maps.flatMap((map, i) => decode(map, scores![i]!, boxes![i]!)));
}

/** The square that shows a whole image, letterboxed; `margin` above 1 adds black around it. */
export function wholeView(image: Pixels, margin = 1): Square {
  const { width, height } = image;
  return { center: { x: width / 2, y: height / 2 }, side: Math.max(width, height) * margin, radians: 0 };
}

function gridOf(cells: number, perCell: number): Point[] {
  const stride = SIDE / cells;
  return Array.from({ length: cells * cells * perCell }, (_, i) => {
    const cell = Math.floor(i / perCell);
    return { x: ((cell % cells) + 0.5) * stride, y: (Math.floor(cell / cells) + 0.5) * stride };
  });
}

function decode(map: SimilarityTransform, scores: Float32Array, numbers: Float32Array): Detection[] {
  const detections: Detection[] = [];
  for (const [i, anchor] of ANCHORS.entries())
    if (scores[i]! >= LEAST_LOGIT)
      detections.push(detectionAt(anchor, map, scores[i]!, numbers.subarray(i * NUMBERS, (i + 1) * NUMBERS)));
  return detections;
}

function detectionAt(
  anchor: Point,
  map: SimilarityTransform,
  logit: number,
  numbers: Float32Array,
): Detection {
  const scale = Math.hypot(map.a, map.b);
  const point = (n: number) =>
    transformPoint(map, { x: anchor.x + numbers[n]!, y: anchor.y + numbers[n + 1]! });
  const { x, y } = point(0);
  const halfWidth = (numbers[2]! * scale) / 2;
  const halfHeight = (numbers[3]! * scale) / 2;
  return {
    box: { x1: x - halfWidth, y1: y - halfHeight, x2: x + halfWidth, y2: y + halfHeight },
    score: 1 / (1 + Math.exp(-logit)),
    eyes: [point(FIRST_EYE), point(SECOND_EYE)],
  };
}

function suppress(detections: readonly Detection[]): Detection[] {
  const kept: Detection[] = [];
  for (const detection of detections.toSorted((one, other) => other.score - one.score))
    if (kept.every(({ box }) => iou(box, detection.box) <= SAME_FACE_OVERLAP)) kept.push(detection);
  return kept;
}
