import { readFileSync } from "node:fs";
import { type Analyzer, MATCH_DISTANCE, type Vector } from "../../src/core/index.ts";
import type { Impostor } from "../../tools/support/datasets.ts";
import { embedImage } from "../../tools/support/evaluation.ts";
import { formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import type { Chapter } from "../report.ts";
import { type FalseMatchCurve, measureFalseMatches } from "./false-match-curve.ts";

/** People who are compared with each other only. */
export interface Population {
  readonly name: string;
  readonly curve: FalseMatchCurve;
}

type Member = (impostor: Impostor) => boolean;

const isAged =
  (from: number, to = Number.POSITIVE_INFINITY): Member =>
  ({ age }) =>
    age >= from && age < to;
const isAdult = isAged(20, 60);

/** The populations that age and gender tell apart. Groups are compared among adults, where most pairs are. */
const POPULATIONS: Readonly<Record<string, Member>> = {
  "0 to 2 years": isAged(0, 3),
  "3 to 9": isAged(3, 10),
  "10 to 19": isAged(10, 20),
  "20 to 59": isAdult,
  "20 to 59, women": (one) => isAdult(one) && one.gender === "female",
  "20 to 59, men": (one) => isAdult(one) && one.gender === "male",
  "60 and older": isAged(60),
};

/** Measures how often two different people of one population match. */
export async function measurePopulations(
  analyzer: Analyzer,
  impostors: readonly Impostor[],
): Promise<Population[]> {
  const vectors = await mapWithProgress(
    "populations",
    impostors,
    async ({ file }) => (await embedImage(analyzer, readFileSync(file)))?.vector,
  );
  const groups = [...new Set(impostors.map(({ group }) => group))].sort();
  const members: [string, Member][] = [
    ...Object.entries(POPULATIONS),
    ...groups.map((group): [string, Member] => [
      `20 to 59, ${group.replace("_", " or ")}`,
      (one) => isAdult(one) && one.group === group,
    ]),
  ];
  return members.map(([name, isMember]) => {
    const own = new Map<string, Vector>();
    for (const [i, impostor] of impostors.entries()) {
      const vector = vectors[i];
      if (vector && isMember(impostor)) own.set(impostor.file, vector);
    }
    return { name, curve: measureFalseMatches(own) };
  });
}

/** Reports the false match rate of each population at the threshold, beside that of the verification set. */
export function populationsChapter(
  populations: readonly Population[],
  verification: FalseMatchCurve,
): Chapter {
  const reference = pointOf(verification).falseMatchRate;
  const rows = populations.map(({ name, curve }) => {
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
      `How often two different people of the same population match at distance ${MATCH_DISTANCE}, from all pairs of portraits of FairFace's validation part, by the age, gender and group that annotators saw. The last column compares with all pairs of the verification set (${reference.toExponential(1)}), which shows mostly adult men. Two portraits may by chance show the same person, so very low rates are upper bounds. The 95 % interval is a jackknife over people.`,
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
