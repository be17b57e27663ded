import { crop, type Pyramid } from "./crop.ts";
import { fitSimilarity } from "./geometry.ts";
import { eyesOf } from "./mesh.ts";
import type { Point } from "./types.ts";

/** Side of the aligned crop in pixels. */
const SIDE = 112;
const RANGE = { scale: 1, offset: 0 };

/** Where the embedding network expects both eyes, the tip of the nose and both corners of the mouth. */
const TEMPLATE: readonly Point[] = [
  { x: 38.2946, y: 51.6963 },
  { x: 73.5318, y: 51.5014 },
  { x: 56.0252, y: 71.7366 },
  { x: 41.5493, y: 92.3655 },
  { x: 70.7299, y: 92.2041 },
];

const NOSE_TIP = 1;
const MOUTH_CORNERS = [61, 291] as const;

/** Cuts a face out so that its eyes, nose and mouth come to lie where the embedding network expects them. */
export function align(image: Pyramid, points: readonly Point[]): Float32Array {
  const [left, right] = MOUTH_CORNERS;
  const landmarks = [...eyesOf(points), points[NOSE_TIP]!, points[left]!, points[right]!];
  return crop(image, fitSimilarity(TEMPLATE, landmarks), SIDE, RANGE);
}
