import { oneInText } from "../../site/rates.ts";
import type { Comparison, FaceMatch } from "../responses.ts";
import { errorRatesAt, MATCH_DISTANCE, percentText } from "./curve.ts";

/** What a threshold says about two faces. */
export interface Verdict {
  readonly isMatch: boolean;
  /** Such as "Match, but borderline". */
  readonly text: string;
  /** What to do about a borderline distance. */
  readonly advice?: string;
}

/**
 * Distances as near to the threshold as this are borderline: beyond it, fewer than 1 in 20 pairs are on the wrong side of
 * the threshold of 0.5, of one person as well as of two adults.
 */
export const BORDERLINE = 0.05;

/** Judges two faces by a threshold. */
export function judge({ distance, matched }: FaceMatch, threshold: number): Verdict {
  const isDefault = threshold === MATCH_DISTANCE;
  // The service knows the exact distance, and the response has two decimals.
  const isMatch = isDefault ? matched : distance < threshold;
  const words = isMatch ? "Match" : "Not a match";
  const isBorderline = Math.abs(distance - threshold) < BORDERLINE;
  return {
    isMatch,
    text: `${words}${isDefault ? "" : ` at ${threshold.toFixed(2)}`}${isBorderline ? ", but borderline" : ""}`,
    ...(isBorderline && {
      advice: `The distance is within ${BORDERLINE} of the threshold, where there are pairs of one person as well as of two. Compare another photo, or let a person decide.`,
    }),
  };
}

/** The distance and the confidence of two faces. */
export function figureText({ distance, confidence }: FaceMatch): string {
  return `distance ${distance.toFixed(2)}, confidence ${percentText(confidence)}`;
}

/** Says how often a threshold errs with people like these. */
export function ratesText({ model }: Comparison, { population }: FaceMatch, threshold: number): string {
  const rates = errorRatesAt(threshold, population, model);
  if (!rates) return "How often this threshold errs was not measured for this model.";
  const { falseMatches, missedMatches, people, isEstimated } = rates;
  const source = isEstimated ? "estimated" : "measured";
  return `At ${threshold.toFixed(2)}, ${oneInText(falseMatches)} pairs of different ${people} match by mistake (${source}), and ${oneInText(missedMatches)} pairs of one person is missed (measured with adults).`;
}
