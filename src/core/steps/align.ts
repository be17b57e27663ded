import { crop } from "../crop/crop.ts";
import { fitSimilarity, type Pixels, type Point, type SimilarityTransform } from "../geometry.ts";
import type { TensorWriter } from "../networks.ts";
import type { FivePoints } from "./detect.ts";

/** Side of the template, and of the embedding network's crop, in pixels. */
export const TEMPLATE_SIDE = 112;
const SIZE = { width: TEMPLATE_SIDE, height: TEMPLATE_SIDE };

/** Where the embedding network expects the five points. */
export const TEMPLATE: readonly Point[] = [
  { x: 38.2946, y: 51.6963 },
  { x: 73.5318, y: 51.5014 },
  { x: 56.0252, y: 71.7366 },
  { x: 41.5493, y: 92.3655 },
  { x: 70.7299, y: 92.2041 },
];

/** Returns the transform from the template to the face in the image. */
export function alignmentTransform(points: FivePoints): SimilarityTransform {
  return fitSimilarity(TEMPLATE, points);
}

/** The angle of a face in radians, clockwise on screen. */
export function rollOf(points: FivePoints): number {
  const { a, b } = alignmentTransform(points);
  return Math.atan2(b, a);
}

/** Crops a face, aligned to the template by a similarity transform. */
export function align(image: Pixels, points: FivePoints): TensorWriter {
  return crop(image, alignmentTransform(points), SIZE);
}
