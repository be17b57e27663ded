import { basename } from "node:path";
import { distanceOf, type Vector } from "../../src/core/index.ts";
import { formatTable } from "../../tools/support/format.ts";
import { Progress } from "../../tools/support/progress.ts";
import { mean, sum } from "../../tools/support/statistics.ts";

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

/** A rate is measured if at least this many pairs lie closer. */
const MIN_PAIRS = 30;

/** Groups of people for the jackknife: pairs that share a person are not independent. */
const GROUPS = 20;
const NORMAL_95 = 1.96;

/**
 * Compares every photo with those of all other people. A photo's person is its file name without the number
 * (`Jane_Doe_0001.jpg`). Rates that are too low to be measured are extrapolated: the logarithm falls linearly with the
 * distance, as over the lowest measured decade.
 */
export function measureFalseMatches(vectors: ReadonlyMap<string, Vector>): FalseMatchCurve {
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
  const measured = hundredths().map((bin) => measurePoint(counts, bin));
  const lowest = measured.findIndex(({ extrapolated }) => !extrapolated);
  return {
    people: people.length,
    pairs: sum(counts.map((bins) => sum([...bins]))),
    points: measured.map((point, i) => (i < lowest ? extrapolate(point, measured.slice(lowest)) : point)),
  };
}

function hundredths(): number[] {
  return Array.from({ length: LAST_BIN - FIRST_BIN + 1 }, (_, i) => FIRST_BIN + i);
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

function extrapolate(point: CurvePoint, measured: readonly CurvePoint[]): CurvePoint {
  const [lowest] = measured;
  const decade = measured.find(({ falseMatchRate }) => falseMatchRate >= 10 * lowest!.falseMatchRate);
  if (!lowest || !decade) return point;
  const slope = Math.log(decade.falseMatchRate / lowest.falseMatchRate) / (decade.distance - lowest.distance);
  const falseMatchRate = lowest.falseMatchRate * Math.exp(slope * (point.distance - lowest.distance));
  return { ...point, falseMatchRate };
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
    `False match rate by distance, from all ${pairs} pairs of photos of different people among ${people} people; [models/calibration.json](../../models/calibration.json) has every hundredth. The 95 % interval is a jackknife over ${GROUPS} groups of people. Rates with fewer than ${MIN_PAIRS} matches are extrapolated log-linearly and may be wrong by a factor of two or three.`,
    formatTable(["distance", "false match rate", "95 % interval"], rows),
  ].join("\n\n");
}
