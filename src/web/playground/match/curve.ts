// The measured rate of false matches of adults, as in models/calibration.json, and the confidence of a distance. The page computes
// them itself, so that the threshold can be moved without a request. A test compares both with the service.

/** Distances below this are a match, unless a request asks for another threshold (spec, 2.2). */
export const MATCH_DISTANCE = 0.5;
/** The largest possible distance. */
export const MAX_DISTANCE = 0.9;

/** The confidence at the match distance (spec, 2.3). */
const MATCH_CONFIDENCE = 0.6;
/** Slopes of the log-odds over the distance, below and above the match distance. */
const STEEPNESS = { match: 42, mismatch: 51 };

/** The identity of the networks with which the curve was measured. */
export const CURVE_MODEL = "sface-26e7008adb0f";

/** The share of pairs of different adults that are closer than a distance, by increasing distance. */
// biome-ignore format: a table
const CURVE: readonly (readonly [distance: number, falseMatchRate: number])[] = [
  [0.4, 4.845e-08],
  [0.41, 1.34e-07],
  [0.42, 3.669e-07],
  [0.43, 9.918e-07],
  [0.44, 2.64e-06],
  [0.45, 6.9e-06],
  [0.46, 1.767e-05],
  [0.47, 4.42e-05],
  [0.48, 0.0001262],
  [0.49, 0.0002384],
  [0.5, 0.0005777],
  [0.51, 0.001273],
  [0.52, 0.002673],
  [0.53, 0.005511],
  [0.54, 0.01098],
  [0.55, 0.02107],
  [0.56, 0.03917],
  [0.57, 0.06782],
  [0.58, 0.1127],
  [0.59, 0.1765],
  [0.6, 0.2634],
];
/** Rates below this distance are estimated, because too few pairs were that close. */
const MIN_MEASURED_DISTANCE = 0.48;

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
