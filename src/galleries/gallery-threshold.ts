import type { FalseMatchRates, Population } from "../core/index.ts";

/** The distance below which a probe and an enrolled face count as the same person, and what to expect of it. */
export interface GalleryThreshold {
  readonly distance: number;
  /** Expected false positive identification rate (FPIR); undefined if the distance is beyond the curves. */
  readonly falsePositiveRate: number | undefined;
  /** For whom the rate holds, if everybody in the gallery is of that population, too. */
  readonly population: Population;
  /** Why the matches are candidates for human review; undefined if they are matches. */
  readonly candidatesReason: CandidatesReason | undefined;
}

/** What holds for all faces of a search. */
export interface OverallThreshold extends Pick<GalleryThreshold, "distance" | "falsePositiveRate"> {
  readonly isForCandidates: boolean;
}

/** The gallery is too large for a verdict, or no threshold holds the rate for the population. */
export type CandidatesReason = "gallerySize" | "population";

/** The FPIR to aim for: the share of strangers who match somebody. */
const TARGET_RATE = 0.003;
/** Smaller galleries have the threshold of this size: a more generous one would gain little. */
const MIN_SIZE = 100;
/** In larger galleries, a threshold with few false positives would miss too many people. */
const MAX_SIZE = 10_000;
/** Candidates are nearer than this, the threshold of two photos. */
const CANDIDATE_DISTANCE = 0.5;

/**
 * Chooses the threshold of a probe by the number of faces in the gallery and by whom the probe may show. A stranger is
 * compared with each face, so the rate of false positives grows with the size: 1 - (1 - rate of false matches)^size.
 */
export function thresholdForSize(
  size: number,
  rates: FalseMatchRates,
  populations: readonly Population[],
): GalleryThreshold {
  const candidates = (reason: CandidatesReason): GalleryThreshold => ({
    ...describeDistance(CANDIDATE_DISTANCE, size, rates, populations),
    candidatesReason: reason,
  });
  if (size > MAX_SIZE) return candidates("gallerySize");
  const matchRate = 1 - (1 - TARGET_RATE) ** (1 / Math.max(size, MIN_SIZE));
  const threshold = rates.thresholdFor(matchRate, populations);
  return threshold
    ? describeDistance(threshold.distance, size, rates, populations)
    : candidates("population");
}

/** Describes a threshold that the user has chosen. */
export function describeDistance(
  distance: number,
  size: number,
  rates: FalseMatchRates,
  populations: readonly Population[],
): GalleryThreshold {
  const rated = rates.at(distance, populations);
  return {
    distance,
    falsePositiveRate: rated && 1 - (1 - Math.min(1, rated.falseMatchRate)) ** size,
    population: rated?.population ?? populations[0]!,
    candidatesReason: size > MAX_SIZE ? "gallerySize" : undefined,
  };
}

/** Sums up the thresholds of several faces: the smallest distance and the highest rate. */
export function overallThreshold(thresholds: readonly GalleryThreshold[]): OverallThreshold {
  const rates = thresholds.map(({ falsePositiveRate }) => falsePositiveRate);
  return {
    distance: Math.min(...thresholds.map(({ distance }) => distance)),
    falsePositiveRate: rates.every((rate) => rate !== undefined) ? Math.max(...rates) : undefined,
    isForCandidates: thresholds.some(({ candidatesReason }) => candidatesReason !== undefined),
  };
}
