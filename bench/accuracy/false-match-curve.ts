import { basename } from "node:path";
import { distanceOf, EMBEDDING_NORM, type Embedding } from "../../src/core/index.ts";
import { formatTable } from "../../tools/support/format.ts";
import { Progress } from "../../tools/support/progress.ts";
import { fitLine, mean, normalQuantile, normalShareBelow, sum } from "../../tools/support/statistics.ts";

/** False match rate at one distance. */
export interface CurvePoint {
  readonly distance: number;
  /** Share of pairs of different people that lie closer than the distance. */
  readonly falseMatchRate: number;
  /** 95 % interval; missing if the rate is extrapolated. */
  readonly interval?: readonly [number, number];
  /** Whether too few pairs lie so close that the rate could be measured. */
  readonly extrapolated: boolean;
}

/** The false match rate by distance, as measured on one set of photos. */
export interface FalseMatchCurve {
  readonly people: number;
  readonly pairs: number;
  readonly points: readonly CurvePoint[];
}

/** Distances are counted in hundredths, 0.00 to 0.89. */
const BINS = 90;
const FIRST_BIN = 40;
const LAST_BIN = 60;
const CURVE_BINS = Array.from({ length: LAST_BIN - FIRST_BIN + 1 }, (_, i) => FIRST_BIN + i);

/** The distances of the points of a curve. */
export const CURVE_DISTANCES = CURVE_BINS.map((bin) => bin / 100);

/** A rate is measured if at least this many pairs lie closer. */
const MIN_PAIRS = 30;

/** The measured rates from which lower ones are extrapolated: up to this rate, but at least so many. */
const TAIL = { maxRate: 0.1, minPoints: 5 };

/** Groups of people for the jackknife: pairs that share a person are not independent. */
const GROUPS = 20;
const NORMAL_95 = 1.96;

/**
 * Compares every photo with those of all other people. A photo's person is its file name without the number
 * (`Jane_Doe_0001.jpg`). Rates that are too low to be measured are extrapolated.
 */
export function measureFalseMatches(vectors: ReadonlyMap<string, Embedding>): FalseMatchCurve {
  const photos = [...vectors].map(([file, vector]) => ({ person: personOf(file), vector }));
  const people = [...new Set(photos.map(({ person }) => person))];
  const groupOf = new Map(people.map((person, i) => [person, i % GROUPS]));
  const counts = Array.from({ length: GROUPS * GROUPS }, () => new Float64Array(BINS));
  const progress = new Progress("false matches", photos.length);
  for (const [i, one] of photos.entries()) {
    for (const other of photos.slice(i + 1)) {
      if (one.person === other.person) continue;
      const bin = Math.min(BINS - 1, Math.floor(100 * distanceOf(one.vector, other.vector)));
      counts[groupOf.get(one.person)! * GROUPS + groupOf.get(other.person)!]![bin]!++;
    }
    progress.step();
  }
  return {
    people: people.length,
    pairs: sum(counts.map((bins) => sum([...bins]))),
    points: extrapolate(CURVE_BINS.map((bin) => measurePoint(counts, bin))),
  };
}

function measurePoint(counts: readonly Float64Array[], bin: number): CurvePoint {
  const rateWithout = (left: number | undefined) => {
    const kept = counts.filter((_, i) => Math.floor(i / GROUPS) !== left && i % GROUPS !== left);
    const matches = sum(kept.map((bins) => sum([...bins.subarray(0, bin)])));
    return { matches, rate: matches / sum(kept.map((bins) => sum([...bins]))) };
  };
  const { matches, rate } = rateWithout(undefined);
  if (matches < MIN_PAIRS) return { distance: bin / 100, falseMatchRate: rate, extrapolated: true };
  const rates = Array.from({ length: GROUPS }, (_, group) => rateWithout(group).rate);
  const center = mean(rates);
  const variance = ((GROUPS - 1) / GROUPS) * sum(rates.map((one) => (one - center) ** 2));
  const margin = NORMAL_95 * Math.sqrt(variance);
  return {
    distance: bin / 100,
    falseMatchRate: rate,
    interval: [Math.max(0, rate - margin), rate + margin],
    extrapolated: false,
  };
}

/**
 * Replaces the rates that were not measured. The cosine similarities of different people are nearly normally
 * distributed, so the probit of the rate is a line over them. On LFW a line through the rates above 4e-4 predicts
 * those at 0.48 and 0.46 within a third.
 */
function extrapolate(points: readonly CurvePoint[]): CurvePoint[] {
  const measured = points.filter(({ extrapolated }) => !extrapolated);
  const low = measured.filter(({ falseMatchRate }) => falseMatchRate <= TAIL.maxRate);
  const tail = low.length >= TAIL.minPoints ? low : measured.slice(0, TAIL.minPoints);
  const line = fitLine(
    tail.map(({ distance, falseMatchRate }) => [cosineOf(distance), normalQuantile(falseMatchRate)]),
  );
  return points.map((point) => {
    if (!point.extrapolated) return point;
    return {
      ...point,
      falseMatchRate: normalShareBelow(line.offset + line.slope * cosineOf(point.distance)),
    };
  });
}

/** The cosine similarity of two vectors at a distance. */
function cosineOf(distance: number): number {
  return 1 - distance ** 2 / (2 * EMBEDDING_NORM ** 2);
}

/** The person in a photo: its file name without the number. */
export function personOf(file: string): string {
  return basename(file).replace(/_\d+\.\w+$/, "");
}

/** Formats the curve as a Markdown table. */
export function formatCurve({ people, pairs, points }: FalseMatchCurve): string {
  const rows = points
    .filter(({ distance }) => Math.round(100 * distance) % 2 === 0)
    .map(({ distance, falseMatchRate, interval }) => [
      distance.toFixed(2),
      falseMatchRate.toExponential(1),
      interval ? interval.map((rate) => rate.toExponential(1)).join(" to ") : "extrapolated",
    ]);
  return [
    `False match rate by distance, from all ${pairs} pairs of photos of different people among ${people} people. The 95 % interval is a jackknife over ${GROUPS} groups of people. Rates with fewer than ${MIN_PAIRS} matches are extrapolated and may be wrong by a factor of two or three.`,
    formatTable(["distance", "false match rate", "95 % interval"], rows),
  ].join("\n\n");
}
