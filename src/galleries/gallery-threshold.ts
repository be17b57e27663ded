import type { FalseMatchCurve } from "../core/index.ts";

/** The distance below which a probe and an enrolled face count as the same person, and what to expect of it. */
export interface GalleryThreshold {
  readonly distance: number;
  /** Expected false positive identification rate (FPIR); undefined if the distance is beyond the curve. */
  readonly falsePositiveRate: number | undefined;
  /** Whether the gallery is too large for a verdict: the matches are candidates for human review. */
  readonly isForCandidates: boolean;
}

/** The FPIR to aim for: the share of strangers who match somebody. */
const TARGET_RATE = 0.003;
/** Smaller galleries have the threshold of this size: a more generous one would gain little. */
const MIN_SIZE = 100;
/** In larger galleries, a threshold with few false positives would miss too many people. */
const MAX_SIZE = 10_000;
/** Candidates of a large gallery are nearer than this, the threshold of two photos. */
const CANDIDATE_DISTANCE = 0.5;
/**
 * Extrapolated rates may be too low by a factor of two or three, so they count double. The table of docs/galleries.md
 * has about 0.3 % of false positives at the resulting threshold for 4,000 people.
 */
const EXTRAPOLATION_MARGIN = 2;

/**
 * Chooses the threshold of a gallery by its number of faces. A stranger is compared with each of them, so the rate of
 * false positives grows with the size: 1 - (1 - rate of false matches)^size.
 */
export function thresholdForSize(size: number, curve: FalseMatchCurve): GalleryThreshold {
  if (size > MAX_SIZE) return describeDistance(CANDIDATE_DISTANCE, size, curve);
  const matchRate = 1 - (1 - TARGET_RATE) ** (1 / Math.max(size, MIN_SIZE));
  const point = curve.pointAtRate(matchRate);
  const { distance } = point.extrapolated ? curve.pointAtRate(matchRate / EXTRAPOLATION_MARGIN) : point;
  return describeDistance(distance, size, curve);
}

/** Describes a threshold that the user has chosen. */
export function describeDistance(distance: number, size: number, curve: FalseMatchCurve): GalleryThreshold {
  const point = curve.pointAtDistance(distance);
  const matchRate = point && point.falseMatchRate * (point.extrapolated ? EXTRAPOLATION_MARGIN : 1);
  return {
    distance,
    falsePositiveRate: matchRate === undefined ? undefined : 1 - (1 - Math.min(1, matchRate)) ** size,
    isForCandidates: size > MAX_SIZE,
  };
}
