import type { Population } from "./populations.ts";
import { MATCH_DISTANCE } from "./steps/compare.ts";

/** The file models/calibration.json, written by `npm run accuracy`. */
export interface Calibration {
  /** The identity of the analyzer with which it was measured. */
  readonly model: string;
  /** The distances of all curves, in increasing order. */
  readonly distances: readonly number[];
  readonly populations: Readonly<Record<Population, CalibrationCurve>>;
}

/** How many pairs of different people of one population are closer than each distance. */
export interface CalibrationCurve {
  readonly people: number;
  readonly pairs: number;
  /** Rates at smaller distances are extrapolated, because too few pairs were that close. */
  readonly measuredFrom: number;
  /** The share of pairs that are closer than each distance. */
  readonly rates: readonly number[];
}

/** What a threshold means: how often two different people of a population are closer. */
export interface RatedThreshold {
  readonly distance: number;
  /** 0 to 1. */
  readonly falseMatchRate: number;
  /** Whether the rate is estimated, because too few pairs were that close. */
  readonly extrapolated: boolean;
  /** The population for which the rate holds: the worst of those that were asked for. */
  readonly population: Population;
}

/** The rates of false matches as functions of the distance, as measured for one model and several populations. */
export class FalseMatchRates {
  readonly model: string;
  readonly #calibration: Calibration;

  constructor(calibration: Calibration) {
    this.model = calibration.model;
    this.#calibration = calibration;
  }

  /** The lowest rate that any curve knows. */
  get minRate(): number {
    return Math.min(...Object.values(this.#calibration.populations).map(({ rates }) => rates[0]!));
  }

  /** The smallest distance of the curves. Below it, most pairs of the same person would be missed. */
  get minDistance(): number {
    return this.#calibration.distances[0]!;
  }

  /** Describes a distance by the population with the highest rate; undefined if it is beyond the curves. */
  at(distance: number, populations: readonly Population[]): RatedThreshold | undefined {
    const { distances } = this.#calibration;
    if (!(distance >= distances[0]! && distance <= distances.at(-1)!)) return undefined;
    const next = Math.max(
      1,
      distances.findIndex((one) => one >= distance),
    );
    const share = (distance - distances[next - 1]!) / (distances[next]! - distances[next - 1]!);
    return populations
      .map((population) => {
        const { rates, measuredFrom } = this.#calibration.populations[population];
        // Between two points the logarithm of the rate is interpolated.
        const falseMatchRate = rates[next - 1]! * (rates[next]! / rates[next - 1]!) ** share;
        return { distance, falseMatchRate, extrapolated: distance < measuredFrom, population };
      })
      .reduce((worst, one) => (one.falseMatchRate > worst.falseMatchRate ? one : worst));
  }

  /** Describes MATCH_DISTANCE, the threshold of face.v1. */
  atMatchDistance(populations: readonly Population[]): RatedThreshold {
    return this.at(MATCH_DISTANCE, populations)!;
  }

  /** Returns the largest distance at which none of the populations has a higher rate; undefined if there is none. */
  thresholdFor(rate: number, populations: readonly Population[]): RatedThreshold | undefined {
    const { distances } = this.#calibration;
    const thresholds = populations.map((population): RatedThreshold | undefined => {
      const { rates, measuredFrom } = this.#calibration.populations[population];
      const next = rates.findIndex((one) => one > rate);
      if (next === 0) return undefined;
      if (next < 0) return this.at(distances.at(-1)!, [population]);
      const [low, high] = [rates[next - 1]!, rates[next]!];
      const share = Math.log(rate / low) / Math.log(high / low);
      const distance = distances[next - 1]! + share * (distances[next]! - distances[next - 1]!);
      return { distance, falseMatchRate: rate, extrapolated: distance < measuredFrom, population };
    });
    return thresholds.reduce((strictest, one) =>
      strictest && one && strictest.distance <= one.distance ? strictest : strictest && one,
    );
  }
}
