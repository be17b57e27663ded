import { confidenceOf, MATCH_DISTANCE } from "../../src/core/index.ts";
import { splitOfPair } from "../../tools/support/datasets.ts";
import type { MeasuredPair } from "../../tools/support/evaluation.ts";
import { formatPercent, formatTable } from "../../tools/support/format.ts";
import { mean, sum, wilsonInterval } from "../../tools/support/statistics.ts";
import type { Chapter } from "../report.ts";
import { formatBins } from "./confidence-bins.ts";
import { type FalseMatchCurve, formatCurve } from "./false-match-curve.ts";

const THRESHOLDS = [0.4, 0.44, 0.46, 0.48, MATCH_DISTANCE, 0.52, 0.54, 0.56, 0.6];

/** Edges of the bins by confidence. */
const CONFIDENCE_EDGES = [0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1];

const FOLDS = 10;
/** Candidates for the best threshold: 0.400 to 0.600. */
const FOLD_THRESHOLDS = Array.from({ length: 41 }, (_, i) => 0.4 + i / 200);

/** Error rates at one distance threshold. */
export interface Rates {
  /** False non-match rate: same-person pairs that do not match. */
  readonly fnmr: number;
  /** False match rate: different-person pairs that match. */
  readonly fmr: number;
  readonly accuracy: number;
}

/** The error rates at a threshold. A pair without a distance never matches. */
export function ratesAt(threshold: number, pairs: readonly MeasuredPair[]): Rates {
  const matches = ({ distance }: MeasuredPair) => distance !== undefined && distance < threshold;
  const same = pairs.filter((pair) => pair.same);
  const different = pairs.filter((pair) => !pair.same);
  return {
    fnmr: same.filter((pair) => !matches(pair)).length / same.length,
    fmr: different.filter(matches).length / different.length,
    accuracy: pairs.filter((pair) => matches(pair) === pair.same).length / pairs.length,
  };
}

/** Reports how well the distance tells same-person pairs from others. */
export function verificationChapter(pairs: readonly MeasuredPair[], curve: FalseMatchCurve): Chapter {
  const atThreshold = ratesAt(MATCH_DISTANCE, pairs);
  const { falseMatchRate } = curve.points.find(({ distance }) => distance === MATCH_DISTANCE)!;
  const withoutFace = pairs.filter(({ distance }) => distance === undefined).length;
  const [low, high] = wilsonInterval(atThreshold.accuracy, pairs.length);
  const folds = measureFolds(pairs);
  const foldError = Math.sqrt(sum(folds.map((one) => (one - mean(folds)) ** 2)) / (FOLDS * (FOLDS - 1)));
  const rows = THRESHOLDS.map((threshold) => {
    const { fnmr, fmr, accuracy } = ratesAt(threshold, pairs);
    return [
      threshold.toFixed(2),
      formatPercent(accuracy, 1),
      formatPercent(fnmr, 1),
      formatPercent(fmr, 1, 2),
    ];
  });
  const heldOut = pairs.filter((pair) => splitOfPair(pair) === "heldOut" && pair.distance !== undefined);
  return {
    title: "Verification",
    figures: [
      {
        name: `verification accuracy at distance ${MATCH_DISTANCE}`,
        measured: formatPercent(atThreshold.accuracy, 1),
        target: "≥ 99.0 %",
        isMet: atThreshold.accuracy >= 0.99,
      },
      {
        name: `false match rate at distance ${MATCH_DISTANCE}, all pairs of different people`,
        measured: formatPercent(falseMatchRate, 1, 3),
        target: "≤ 0.2 %",
        isMet: falseMatchRate <= 0.002,
      },
      {
        name: "pairs in which a face was not found",
        measured: String(withoutFace),
        target: "0",
        isMet: withoutFace === 0,
      },
    ],
    body: [
      `${pairs.length} pairs; the most prominent face of each photo is compared. The threshold is that of the API; nothing is fitted. The 95 % interval of the accuracy at ${MATCH_DISTANCE} is ${formatPercent(low, 1)} to ${formatPercent(high, 1)}. With the best threshold of nine folds on the tenth, the mean of ten folds is ${formatPercent(mean(folds), 1, 2)} ± ${(100 * foldError).toFixed(2)} (standard error). The set has no labels of age, gender or origin, so rates by group cannot be given. Its photos are centered on their subject, which favors the rule for the first face.`,
      formatTable(["threshold", "accuracy", "false non-match rate", "false match rate"], rows),
      "![False non-match rate against false match rate](accuracy-tradeoff.svg)",
      formatCurve(curve),
      "Calibration of the confidence of compare_faces, on the held-out pairs:",
      formatBins(
        ["confidence", "pairs", "mean confidence", "same person"],
        heldOut.map(({ distance, same }) => ({ confidence: confidenceOf(distance!), isCorrect: same })),
        CONFIDENCE_EDGES,
      ),
    ].join("\n\n"),
  };
}

/** Accuracy on each fold with the threshold that is best on the other folds. */
function measureFolds(pairs: readonly MeasuredPair[]): number[] {
  return Array.from({ length: FOLDS }, (_, fold) => {
    const others = pairs.filter((_, i) => i % FOLDS !== fold);
    const best = FOLD_THRESHOLDS.map((threshold) => ({ threshold, ...ratesAt(threshold, others) })).reduce(
      (one, other) => (other.accuracy > one.accuracy ? other : one),
    );
    return ratesAt(
      best.threshold,
      pairs.filter((_, i) => i % FOLDS === fold),
    ).accuracy;
  });
}
