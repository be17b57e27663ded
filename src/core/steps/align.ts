import { crop } from "../crop/crop.ts";
import { centroid, fitSimilarity, type SimilarityTransform } from "../geometry.ts";
import type { TensorWriter } from "../networks.ts";
import type { Pixels, Point } from "../types.ts";

/** Side of the template, and of the embedding network's crop, in pixels. */
export const TEMPLATE_SIDE = 112;
const NORMALIZATION = { scale: 1, offset: 0 };

/** Where the embedding network expects the eyes, the tip of the nose and the corners of the mouth. */
const TEMPLATE: readonly Point[] = [
  { x: 38.2946, y: 51.6963 },
  { x: 73.5318, y: 51.5014 },
  { x: 56.0252, y: 71.7366 },
  { x: 41.5493, y: 92.3655 },
  { x: 70.7299, y: 92.2041 },
];

/**
 * The mesh points whose centroid is used for each point of the template. Eight points per eye make the crop more
 * stable than the two corners alone.
 */
const LANDMARKS: readonly (readonly number[])[] = [
  [33, 133, 159, 145, 160, 158, 144, 153],
  [263, 362, 386, 374, 387, 385, 373, 380],
  [1, 4],
  [61],
  [291],
];

/** Returns the transform from the template to the face in the image, given the face's mesh. */
export function alignmentTransform(points: readonly Point[]): SimilarityTransform {
  const landmarks = LANDMARKS.map((group) => centroid(group.map((point) => points[point]!)));
  return fitSimilarity(TEMPLATE, landmarks);
}

/** Crops a face, aligned to the template by a similarity transform. */
export function align(image: Pixels, points: readonly Point[]): TensorWriter {
  return crop(image, alignmentTransform(points), TEMPLATE_SIDE, NORMALIZATION);
}
