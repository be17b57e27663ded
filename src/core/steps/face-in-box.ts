import { type Box, iou, type Pixels } from "../geometry.ts";
import type { Network } from "../networks.ts";
import { type Detection, detect, type FivePoints } from "./detect.ts";
import { isSameFace, lookAgain, SURE_SCORE, viewAround } from "./look-again.ts";

/** The least score of a face in a box. The caller says that there is one, so it is lower than elsewhere. */
const MIN_SCORE = 0.5;

/** Where the five points of a usual face lie in its box, as shares of width and height. */
const USUAL_POINTS = [
  [0.27, 0.39],
  [0.73, 0.39],
  [0.5, 0.59],
  [0.3, 0.74],
  [0.7, 0.74],
] as const;

/**
 * Finds the face that a box is meant for, in a view of its surroundings. Returns undefined if there is none.
 *
 * @param nearest the face in the photo that overlaps the box most. A box that a response gave leads to the same face
 *   again, and a box that is much larger than its face leads to it as well.
 */
export async function findFaceInBox(
  network: Network,
  image: Pixels,
  box: Box,
  nearest: Detection | undefined,
): Promise<Detection | undefined> {
  if (nearest && isSameFace(box, nearest.box)) return nearest;
  const closer = mostOverlapping(box, await lookAtBox(network, image, box)) ?? nearest;
  if (closer) return closer;
  // A face that lies on its side may score less.
  const [turned] = await lookAgain(network, image, [faceFromBox(box)]);
  return turned && turned.score >= SURE_SCORE ? turned : undefined;
}

/** Takes a box as one face, whatever it shows: the face that fills it if there is one, otherwise a usual upright face. */
export async function takeBoxAsFace(network: Network, image: Pixels, box: Box): Promise<Detection> {
  const filling = (await lookAtBox(network, image, box)).filter((face) => isSameFace(box, face.box));
  return mostOverlapping(box, filling) ?? faceFromBox(box);
}

/** Returns the face whose box has the largest IoU with a box; undefined if none overlaps it. */
export function mostOverlapping<Face extends Detection>(box: Box, faces: readonly Face[]): Face | undefined {
  return faces
    .filter((face) => iou(face.box, box) > 0)
    .toSorted((one, other) => iou(other.box, box) - iou(one.box, box))[0];
}

async function lookAtBox(network: Network, image: Pixels, box: Box): Promise<readonly Detection[]> {
  const [detections] = await detect(network, image, [viewAround(box, 0)], MIN_SCORE);
  return detections!;
}

function faceFromBox(box: Box): Detection {
  const { x1, y1, x2, y2 } = box;
  const points = USUAL_POINTS.map(([across, down]) => ({
    x: x1 + across * (x2 - x1),
    y: y1 + down * (y2 - y1),
  })) as unknown as FivePoints;
  return { box, score: 0, points, viewRadians: 0 };
}
