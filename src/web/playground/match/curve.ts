// The measured rates of errors. The page computes them itself, so that the threshold can be moved without a request. A
// test compares them with the service and with the accuracy report.
import CALIBRATION from "../../../../models/calibration.json" with { type: "json" };
import { POPULATION_NAMES, type PopulationName } from "../../site/populations.ts";

/** Distances below this are a match, unless a request asks for another threshold (spec, 2.2). */
export const MATCH_DISTANCE = 0.5;
/** The largest possible distance. */
export const MAX_DISTANCE = 0.9;

const { distances, populations } = CALIBRATION;

/** The thresholds for which there are rates. */
export const MIN_THRESHOLD = distances[0]!;
export const MAX_THRESHOLD = distances.at(-1)!;

/** The curve of the false matches of each population. */
const CURVES: Readonly<Record<PopulationName, MeasuredCurve>> = {
  POPULATION_AGE_0_TO_2: populations.age0To2,
  POPULATION_AGE_3_TO_9: populations.age3To9,
  POPULATION_AGE_10_TO_19: populations.age10To19,
  POPULATION_WOMEN_20_TO_59: populations.women20To59,
  POPULATION_MEN_20_TO_59: populations.men20To59,
  POPULATION_WOMEN_60_AND_OLDER: populations.women60Up,
  POPULATION_MEN_60_AND_OLDER: populations.men60Up,
  POPULATION_ADULTS: populations.adults,
  POPULATION_AGE_10_AND_OLDER: populations.age10Up,
};

interface MeasuredCurve {
  readonly rates: readonly number[];
  /** The distance from which it was measured; below, it is an estimate. */
  readonly measuredFrom: number;
}

/** The share of pairs of photos of one person that are farther apart than each distance: bench/results/accuracy.md. */
const MISSED_MATCHES = {
  distances: [0.4, 0.44, 0.46, 0.48, 0.5, 0.52, 0.54, 0.56, 0.6],
  rates: [0.21, 0.056, 0.03, 0.02, 0.014, 0.014, 0.008, 0.004, 0.002],
};

/** How often a threshold errs. */
export interface ErrorRates {
  /** The share of pairs of different people of the population that match. */
  readonly falseMatches: number;
  /** Whether that is an estimate, because too few pairs were that close. */
  readonly isEstimated: boolean;
  /** For whom it holds. */
  readonly people: string;
  /** The share of pairs of one person that do not match. */
  readonly missedMatches: number;
}

/** Returns the rates at a threshold within the curves; undefined for another model than the measured one. */
export function errorRatesAt(
  threshold: number,
  population: PopulationName,
  model: string,
): ErrorRates | undefined {
  if (model !== CALIBRATION.model) return undefined;
  const curve = CURVES[population];
  return {
    falseMatches: interpolate({ distances, rates: curve.rates }, threshold),
    isEstimated: threshold < curve.measuredFrom,
    people: POPULATION_NAMES[population],
    missedMatches: interpolate(MISSED_MATCHES, threshold),
  };
}

interface Curve {
  readonly distances: readonly number[];
  readonly rates: readonly number[];
}

/** Between two points the logarithm of the rate is interpolated. */
function interpolate({ distances, rates }: Curve, threshold: number): number {
  const next = Math.max(
    1,
    distances.findIndex((distance) => distance >= threshold),
  );
  const [low, high] = [rates[next - 1]!, rates[next]!];
  const share = (threshold - distances[next - 1]!) / (distances[next]! - distances[next - 1]!);
  return low * (high / low) ** share;
}

/** Writes a confidence in percent. It is never certain, so neither 0% nor 100%. */
export function percentText(confidence: number): string {
  if (confidence > 0.999) return "above 99.9%";
  if (confidence < 0.001) return "below 0.1%";
  const percent = 100 * confidence;
  return `${percent > 99 || percent < 1 ? percent.toFixed(1) : Math.round(percent)}%`;
}
