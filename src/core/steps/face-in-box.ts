import { iou } from "../geometry.ts";
import type { Network } from "../networks.ts";
import type { Box, Pixels } from "../types.ts";
import { type Detection, detect, type FivePoints } from "./detect.ts";
import { lookAgain, SURE_SCORE, viewAround } from "./look-again.ts";

/** The least score of a face in a box. The caller says that there is one, so it is lower than elsewhere. */
const MIN_SCORE = 0.5;

/** A second view for boxes that are much larger than the face. */
const WIDE_VIEW = { margin: 1.6, side: 320 };

/** Where the five points of a usual face lie in its box, as shares of width and height. */
const USUAL_POINTS = [
  [0.27, 0.39],
  [0.73, 0.39],
  [0.5, 0.59],
  [0.3, 0.74],
  [0.7, 0.74],
] as const;

/** Finds the face that a box is meant for: the one with the largest IoU. Returns undefined if there is none. */
export async function findFaceInBox(
  network: Network,
  image: Pixels,
  box: Box,
): Promise<Detection | undefined> {
  for (const view of [viewAround(box, 0), viewAround(box, 0, WIDE_VIEW.margin, WIDE_VIEW.side)]) {
    const [detections] = await detect(network, image, [view], MIN_SCORE);
    const [best] = detections!
      .filter((detection) => iou(detection.box, box) > 0)
      .sort((one, other) => iou(other.box, box) - iou(one.box, box));
    if (best) return best;
  }
  // A face that lies on its side may score less.
  const [turned] = await lookAgain(network, image, [faceFromBox(box)]);
  return turned && turned.score >= SURE_SCORE ? turned : undefined;
}

/** Takes a box as an upright face, whatever it shows. */
export function faceFromBox(box: Box): Detection {
  const { x1, y1, x2, y2 } = box;
  const points = USUAL_POINTS.map(([across, down]) => ({
    x: x1 + across * (x2 - x1),
    y: y1 + down * (y2 - y1),
  })) as unknown as FivePoints;
  return { box, score: 0, points };
}
