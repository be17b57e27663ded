// The measured rate of false matches of adults, as in models/calibration.json, and the confidence of a distance. The page computes
// them itself, so that the threshold can be moved without a request. A test compares both with the service.

/** Distances below this are a match, unless a request asks for another threshold (spec, 2.2). */
export const MATCH_DISTANCE = 0.5;
/** The largest possible distance. */
export const MAX_DISTANCE = 0.9;

/** The confidence at the match distance (spec, 2.3). */
const MATCH_CONFIDENCE = 0.6;
/** Slopes of the log-odds over the distance, below and above the match distance. */
const STEEPNESS = { match: 45, mismatch: 49 };

/** The identity of the networks with which the curve was measured. */
export const CURVE_MODEL = "sface-7398993872d1";

/** The share of pairs of different adults that are closer than a distance, by increasing distance. */
// biome-ignore format: a table
const CURVE: readonly (readonly [distance: number, falseMatchRate: number])[] = [
  [0.4, 1.519e-07],
  [0.41, 3.769e-07],
  [0.42, 9.274e-07],
  [0.43, 2.259e-06],
  [0.44, 5.436e-06],
  [0.45, 1.289e-05],
  [0.46, 3.006e-05],
  [0.47, 8.314e-05],
  [0.48, 0.0001635],
  [0.49, 0.0003492],
  [0.5, 0.0006956],
  [0.51, 0.001325],
  [0.52, 0.002633],
  [0.53, 0.005313],
  [0.54, 0.01028],
  [0.55, 0.01968],
  [0.56, 0.03601],
  [0.57, 0.06301],
  [0.58, 0.1041],
  [0.59, 0.165],
  [0.6, 0.2478],
];
/** Rates below this distance are estimated, because too few pairs were that close. */
const MIN_MEASURED_DISTANCE = 0.47;

/** The thresholds for which there is a rate. */
export const MIN_THRESHOLD = CURVE[0]![0];
export const MAX_THRESHOLD = CURVE.at(-1)![0];

/** The rate of false matches at a threshold. */
export interface FalseMatchRate {
  /** The share of pairs of different people that match, 0 to 1. */
  readonly rate: number;
  readonly isEstimated: boolean;
}

/** Returns the rate at a threshold within the curve. Between two points the logarithm of the rate is interpolated. */
export function falseMatchRateAt(threshold: number): FalseMatchRate {
  const next = Math.max(
    1,
    CURVE.findIndex(([distance]) => distance >= threshold),
  );
  const [[low, lowRate], [high, highRate]] = [CURVE[next - 1]!, CURVE[next]!];
  const share = (threshold - low) / (high - low);
  return { rate: lowRate * (highRate / lowRate) ** share, isEstimated: threshold < MIN_MEASURED_DISTANCE };
}

/** Returns the probability that two faces are the same person, if both answers are equally likely beforehand. */
export function confidenceAt(distance: number): number {
  const slope = distance < MATCH_DISTANCE ? STEEPNESS.match : STEEPNESS.mismatch;
  const odds = (MATCH_CONFIDENCE / (1 - MATCH_CONFIDENCE)) * Math.exp(slope * (MATCH_DISTANCE - distance));
  return odds / (1 + odds);
}

/** Writes a confidence in percent. It is never certain, so neither 0% nor 100%. */
export function percentText(confidence: number): string {
  if (confidence > 0.999) return "above 99.9%";
  if (confidence < 0.001) return "below 0.1%";
  const percent = 100 * confidence;
  return `${percent > 99 || percent < 1 ? percent.toFixed(1) : Math.round(percent)}%`;
}
