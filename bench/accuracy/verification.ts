import { readFileSync } from "node:fs";
import {
  type Analyzer,
  confidenceOf,
  distanceOf,
  FaceError,
  MATCH_DISTANCE,
  type Vector,
} from "../../src/core/index.ts";
import { halfOf, nameOf, type Pair } from "../../tools/support/datasets.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { type Chapter, mean, percent, table } from "../report.ts";

/** A pair with the distance of its two faces; without one where a face was not found. */
export interface MeasuredPair extends Pair {
  readonly distance?: number;
}

/** Measures the distance of each pair, each photograph once. */
export async function measurePairs(analyzer: Analyzer, pairs: readonly Pair[]): Promise<MeasuredPair[]> {
  const files = [...new Set(pairs.flatMap(({ first, second }) => [first, second]))];
  const vectors = await mapWithProgress("verification", files, (file) => vectorOf(analyzer, file));
  const byFile = new Map(files.map((file, i) => [file, vectors[i]]));
  return pairs.map((pair) => {
    const first = byFile.get(pair.first);
    const second = byFile.get(pair.second);
    return { ...pair, ...(first && second && { distance: distanceOf(first, second) }) };
  });
}

async function vectorOf(analyzer: Analyzer, file: string): Promise<Vector | undefined> {
  try {
    return (await analyzer.embed(readFileSync(file))).vector;
  } catch (fault) {
    if (fault instanceof FaceError && fault.kind === "noFace") return undefined;
    throw fault;
  }
}

/** How often one threshold is right and wrong. A pair without a distance never matches. */
export interface Rates {
  readonly threshold: number;
  readonly misses: number;
  readonly falseMatches: number;
  readonly right: number;
}

/** The rates at a threshold, over pairs of the same and of different people. */
export function ratesAt(threshold: number, pairs: readonly MeasuredPair[]): Rates {
  const matches = ({ distance }: MeasuredPair) => distance !== undefined && distance < threshold;
  const same = pairs.filter((pair) => pair.same);
  const different = pairs.filter((pair) => !pair.same);
  return {
    threshold,
    misses: same.filter((pair) => !matches(pair)).length / same.length,
    falseMatches: different.filter(matches).length / different.length,
    right: pairs.filter((pair) => matches(pair) === pair.same).length / pairs.length,
  };
}

/** The chapter on whether two photographs show the same person. */
export function verificationChapter(pairs: readonly MeasuredPair[]): Chapter {
  const atThreshold = ratesAt(MATCH_DISTANCE, pairs);
  const unfound = pairs.filter(({ distance }) => distance === undefined).length;
  const thresholds = [0.4, 0.44, 0.46, 0.48, MATCH_DISTANCE, 0.52, 0.54, 0.56, 0.6];
  const rows = thresholds.map((threshold) => {
    const { misses, falseMatches, right } = ratesAt(threshold, pairs);
    return [threshold.toFixed(2), percent(right, 1), percent(misses, 1), percent(falseMatches, 1, 2)];
  });
  const reported = pairs.filter((pair) => halfOf(nameOf(pair)) === "report" && pair.distance !== undefined);
  return {
    title: "Same person or not",
    figures: [
      {
        what: `right at distance ${MATCH_DISTANCE}`,
        measured: percent(atThreshold.right, 1),
        target: "≥ 99.0 %",
        reached: atThreshold.right >= 0.99,
      },
      {
        what: `false matches at distance ${MATCH_DISTANCE}`,
        measured: percent(atThreshold.falseMatches, 1, 2),
        target: "≤ 0.2 %",
        reached: atThreshold.falseMatches <= 0.002,
      },
      {
        what: "pairs with a face not found",
        measured: String(unfound),
        target: "0",
        reached: unfound === 0,
      },
    ],
    body: [
      `${pairs.length} pairs, each photograph's first face. The threshold is the spec's, nothing here is fitted.`,
      table(["threshold", "right", "misses", "false matches"], rows),
      "![False matches against misses](accuracy-tradeoff.svg)",
      "The confidence of compare_faces, on the pairs that it was not fitted on:",
      table(["confidence", "pairs", "mean confidence", "same person"], calibrationRows(reported)),
    ].join("\n\n"),
  };
}

function calibrationRows(pairs: readonly MeasuredPair[]): (string | number)[][] {
  const edges = [0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.000001];
  return edges.slice(0, -1).map((from, i) => {
    const to = edges[i + 1]!;
    const bin = pairs
      .map(({ distance, same }) => ({ confidence: confidenceOf(distance!), same }))
      .filter(({ confidence }) => confidence >= from && confidence < to);
    return [
      `${from} to ${Math.min(1, to)}`,
      bin.length,
      bin.length === 0 ? "-" : mean(bin.map(({ confidence }) => confidence)).toFixed(3),
      percent(bin.filter(({ same }) => same).length, bin.length),
    ];
  });
}
