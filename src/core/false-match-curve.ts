import { MATCH_DISTANCE } from "./steps/compare.ts";

/** How many pairs of different people are closer than a distance. */
export interface CurvePoint {
  readonly distance: number;
  /** The share of all pairs, 0 to 1. */
  readonly falseMatchRate: number;
  /** Whether the rate is estimated, because too few pairs were that close. */
  readonly extrapolated: boolean;
}

/** The file models/calibration.json, written by `npm run accuracy`. */
export interface Calibration {
  /** The identity of the analyzer with which it was measured. */
  readonly model: string;
  /** By increasing distance and rate. */
  readonly points: readonly CurvePoint[];
}

/** The rate of false matches as a function of the distance, as measured for one model. */
export class FalseMatchCurve {
  readonly model: string;
  readonly #points: readonly CurvePoint[];

  constructor({ model, points }: Calibration) {
    this.model = model;
    this.#points = points;
  }

  /** The lowest rate that the curve knows. */
  get minRate(): number {
    return this.#points[0]!.falseMatchRate;
  }

  /** The point at the threshold of the spec. */
  get atMatchDistance(): CurvePoint {
    return this.#points.find(({ distance }) => distance === MATCH_DISTANCE)!;
  }

  /** Returns the point at a distance, interpolated like `pointAtRate`; undefined if it is beyond the curve. */
  pointAtDistance(distance: number): CurvePoint | undefined {
    const next = this.#points.findIndex((point) => point.distance >= distance);
    const [low, high] = [this.#points[next - 1], this.#points[next]];
    if (high?.distance === distance) return high;
    if (!low || !high) return undefined;
    const share = (distance - low.distance) / (high.distance - low.distance);
    const falseMatchRate = low.falseMatchRate * (high.falseMatchRate / low.falseMatchRate) ** share;
    return { distance, falseMatchRate, extrapolated: low.extrapolated };
  }

  /**
   * Returns the farthest point whose rate is at most this one. Between two measured points the logarithm of the rate is
   * interpolated. The rate must be at least `minRate`.
   */
  pointAtRate(rate: number): CurvePoint {
    const next = this.#points.findIndex(({ falseMatchRate }) => falseMatchRate > rate);
    if (next < 0) return this.#points.at(-1)!;
    const [low, high] = [this.#points[next - 1]!, this.#points[next]!];
    const share = Math.log(rate / low.falseMatchRate) / Math.log(high.falseMatchRate / low.falseMatchRate);
    return {
      distance: low.distance + share * (high.distance - low.distance),
      falseMatchRate: rate,
      extrapolated: low.extrapolated,
    };
  }
}
