import type { Vector } from "./embed.ts";

/** Below this distance two faces are the same person (spec 2.2). */
export const MATCH_DISTANCE = 0.5;

/** Above this confidence two faces are the same person (spec 2.3). */
export const MATCH_CONFIDENCE = 0.6;

/**
 * How fast the odds fall with the distance, on either side of the threshold. Fitted by
 * `npm run fit:confidence` so that, where both answers are equally likely beforehand, the
 * confidence reads as a probability.
 */
const STEEPNESS = { match: 41, mismatch: 42 };

/** Euclidean distance of two vectors, 0 to 0.9. */
export function distanceOf(one: Vector, other: Vector): number {
  return Math.sqrt(one.reduce((sum, value, i) => sum + (value - other[i]!) ** 2, 0));
}

/** The distance as a confidence, 0 to 1: it falls as the distance grows and passes 0.6 at 0.5. */
export function confidenceOf(distance: number, steepness = STEEPNESS): number {
  const slope = distance < MATCH_DISTANCE ? steepness.match : steepness.mismatch;
  const odds = (MATCH_CONFIDENCE / (1 - MATCH_CONFIDENCE)) * Math.exp(slope * (MATCH_DISTANCE - distance));
  return odds / (1 + odds);
}
