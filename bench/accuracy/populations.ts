import { readFileSync } from "node:fs";
import {
  type Analyzer,
  type Calibration,
  type CalibrationCurve,
  distanceOf,
  type Embedding,
  MATCH_DISTANCE,
  type Population,
} from "../../src/core/index.ts";
import type { Impostor } from "../../tools/support/datasets.ts";
import { embedImage } from "../../tools/support/evaluation.ts";
import { formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { sum } from "../../tools/support/statistics.ts";
import type { Chapter } from "../report.ts";
import { CURVE_DISTANCES, type FalseMatchCurve, measureFalseMatches } from "./false-match-curve.ts";

/** A portrait with what the networks see. */
export interface MeasuredImpostor extends Impostor {
  readonly embedding: Embedding;
  readonly populations: readonly Population[];
}

export type Member = (impostor: Impostor) => boolean;

const isAged =
  (from: number, to = Number.POSITIVE_INFINITY): Member =>
  ({ age }) =>
    age >= from && age < to;
const isAdult = isAged(20, 60);
const isFemale: Member = ({ gender }) => gender === "female";
const and =
  (one: Member, other: Member): Member =>
  (impostor) =>
    one(impostor) && other(impostor);
const not =
  (member: Member): Member =>
  (impostor) =>
    !member(impostor);

/** A population that the labels of annotators tell. */
type LabelledPopulation = Exclude<Population, "age10Up">;

const MEMBERS: Readonly<Record<LabelledPopulation, Member>> = {
  age0To2: isAged(0, 3),
  age3To9: isAged(3, 10),
  age10To19: isAged(10, 20),
  women20To59: and(isAdult, isFemale),
  men20To59: and(isAdult, not(isFemale)),
  women60Up: and(isAged(60), isFemale),
  men60Up: and(isAged(60), not(isFemale)),
  adults: isAdult,
};

const NAMES: Readonly<Record<LabelledPopulation, string>> = {
  age0To2: "0 to 2 years",
  age3To9: "3 to 9",
  age10To19: "10 to 19",
  women20To59: "20 to 59, women",
  men20To59: "20 to 59, men",
  women60Up: "60 and older, women",
  men60Up: "60 and older, men",
  adults: "20 to 59",
};

const POPULATIONS_OF_LABELS = Object.keys(MEMBERS) as LabelledPopulation[];

/** Populations of which no member is a child. */
const FROM_TEN: readonly LabelledPopulation[] = [
  "age10To19",
  "women20To59",
  "men20To59",
  "women60Up",
  "men60Up",
];

/**
 * Two portraits that are nearer show the same person: at this distance, less than one pair in 10,000 of people of 10
 * years and older is of two. Children are too similar for that.
 */
const SAME_PERSON = { distance: 0.42, minAge: 10 };

/** Measures each portrait. Of portraits that show the same person, only one is kept. */
export async function measureImpostors(
  analyzer: Analyzer,
  impostors: readonly Impostor[],
): Promise<MeasuredImpostor[]> {
  const embeddings = await mapWithProgress("populations", impostors, ({ file }) =>
    embedImage(analyzer, readFileSync(file), { populations: true }),
  );
  const kept: MeasuredImpostor[] = [];
  for (const [i, impostor] of impostors.entries()) {
    const { embedding, populations } = embeddings[i] ?? {};
    if (!embedding || !populations) continue;
    const isSamePerson = (other: MeasuredImpostor) =>
      Math.min(impostor.age, other.age) >= SAME_PERSON.minAge &&
      distanceOf(embedding, other.embedding) < SAME_PERSON.distance;
    if (!kept.some(isSamePerson)) kept.push({ ...impostor, embedding, populations });
  }
  return kept;
}

/** Measures the curve of some portraits. */
export function curveOf(impostors: readonly MeasuredImpostor[], isMember: Member): FalseMatchCurve {
  return measureFalseMatches(
    new Map(impostors.filter(isMember).map(({ file, embedding }) => [file, embedding] as const)),
  );
}

/** Measures how often two different people of each population are closer than each distance. */
export function calibrate(model: string, impostors: readonly MeasuredImpostor[]): Calibration {
  const measure = (isMember: Member): CalibrationCurve => {
    const { people, pairs, points } = curveOf(impostors, isMember);
    const measuredFrom = points.find(({ extrapolated }) => !extrapolated)!.distance;
    return { people, pairs, measuredFrom, rates: points.map(({ falseMatchRate }) => falseMatchRate) };
  };
  const measured = new Map(POPULATIONS_OF_LABELS.map((name) => [name, measure(MEMBERS[name])]));
  const older = FROM_TEN.map((name) => measured.get(name)!);
  const worst = {
    people: sum(older.map(({ people }) => people)),
    pairs: sum(older.map(({ pairs }) => pairs)),
    measuredFrom: Math.max(...older.map(({ measuredFrom }) => measuredFrom)),
    rates: CURVE_DISTANCES.map((_, i) => Math.max(...older.map(({ rates }) => rates[i]!))),
  };
  const populations = Object.fromEntries([...measured, ["age10Up", worst]]) as Calibration["populations"];
  return { model, distances: CURVE_DISTANCES, populations };
}

/** Reports the false match rate of each population and group at the threshold, beside that of the verification set. */
export function populationsChapter(
  impostors: readonly MeasuredImpostor[],
  verification: FalseMatchCurve,
): Chapter {
  const reference = pointOf(verification).falseMatchRate;
  const groups = [...new Set(impostors.map(({ group }) => group))].sort();
  const members: [string, Member][] = [
    ...POPULATIONS_OF_LABELS.map((population): [string, Member] => [NAMES[population], MEMBERS[population]]),
    ...groups.map((group): [string, Member] => [
      `20 to 59, ${group.replace("_", " or ")}`,
      and(isAdult, (one) => one.group === group),
    ]),
  ];
  const rows = members.map(([name, isMember]) => {
    const curve = curveOf(impostors, isMember);
    const { falseMatchRate, interval } = pointOf(curve);
    return [
      name,
      curve.people,
      curve.pairs,
      falseMatchRate.toExponential(1),
      interval ? interval.map((rate) => rate.toExponential(1)).join(" to ") : "too few matches",
      `${(falseMatchRate / reference).toPrecision(2)}`,
    ];
  });
  return {
    title: "False matches by population",
    figures: [],
    body: [
      `How often two different people of the same population match at distance ${MATCH_DISTANCE}, from all pairs of portraits of FairFace's validation part, by the age, gender and group that annotators saw. The last column compares with all pairs of the verification set (${reference.toExponential(1)}), which shows mostly adult men. Of portraits of people of ${SAME_PERSON.minAge} and older that are closer than ${SAME_PERSON.distance}, only one is kept, because they show the same person. The 95 % interval is a jackknife over people; rates with fewer than 30 matches are extrapolated. [models/calibration.json](../../models/calibration.json) has the curves by age and gender.`,
      formatTable(
        ["population", "people", "pairs", "false match rate", "95 % interval", "times that of LFW"],
        rows,
      ),
    ].join("\n\n"),
  };
}

function pointOf({ points }: FalseMatchCurve) {
  return points.find(({ distance }) => distance === MATCH_DISTANCE)!;
}
