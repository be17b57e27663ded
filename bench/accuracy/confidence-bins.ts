import { formatPercent, formatTable } from "../../tools/support/format.ts";
import { createRandom } from "../../tools/support/random.ts";
import { mean, sum } from "../../tools/support/statistics.ts";

/** An answer with the confidence that was stated for it. */
export interface Answer {
  /** 0 to 1. */
  readonly confidence: number;
  readonly isCorrect: boolean;
}

/** The bin that ends at 1 includes it. */
function binsOf(answers: readonly Answer[], edges: readonly number[]) {
  return edges.slice(0, -1).map((from, i) => {
    const to = edges[i + 1]!;
    const isIn = ({ confidence }: Answer) => confidence >= from && (confidence < to || to === 1);
    return { name: `${from} to ${to}`, answers: answers.filter(isIn) };
  });
}

/** Formats the stated confidence and the share of correct answers of each bin. */
export function formatBins(
  header: readonly [bin: string, count: string, confidence: string, correct: string],
  answers: readonly Answer[],
  edges: readonly number[],
): string {
  const rows = binsOf(answers, edges).map(({ name, answers: bin }) => [
    name,
    bin.length,
    bin.length === 0 ? "-" : mean(bin.map(({ confidence }) => confidence)).toFixed(3),
    formatPercent(bin.filter(({ isCorrect }) => isCorrect).length, bin.length),
  ]);
  return formatTable(header, rows);
}

/**
 * The expected calibration error (ECE), 0 to 1: the mean difference of a bin between stated confidence and share
 * correct, weighted by its answers.
 */
export function expectedCalibrationError(answers: readonly Answer[], edges: readonly number[]): number {
  const differences = binsOf(answers, edges).map(({ answers: bin }) =>
    Math.abs(sum(bin.map(({ confidence, isCorrect }) => confidence - Number(isCorrect)))),
  );
  return sum(differences) / answers.length;
}

/** The mean ECE if every confidence were exact: what chance alone causes with so few answers. */
export function chanceCalibrationError(answers: readonly Answer[], edges: readonly number[]): number {
  const random = createRandom(1);
  const draws = Array.from({ length: 1000 }, () =>
    expectedCalibrationError(
      answers.map(({ confidence }) => ({ confidence, isCorrect: random() < confidence })),
      edges,
    ),
  );
  return mean(draws);
}
