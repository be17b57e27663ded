import { readFileSync } from "node:fs";
import { AGE_RANGES, type AgeRange, type Analyzer } from "../../src/core/index.ts";
import type { Portrait } from "../../tools/support/datasets.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { type Chapter, percent, table } from "../report.ts";

/** A portrait with what was read off it; without where no face was found. */
export interface MeasuredPortrait extends Portrait {
  readonly read?: { readonly age: AgeRange; readonly gender: "male" | "female" };
}

/** Reads age range and gender off each portrait's first face. */
export function measureAttributes(
  analyzer: Analyzer,
  portraits: readonly Portrait[],
): Promise<MeasuredPortrait[]> {
  return mapWithProgress("age and gender", portraits, async (portrait) => {
    const { faces } = await analyzer.analyze(readFileSync(portrait.file));
    const [face] = faces;
    return { ...portrait, ...(face && { read: { age: face.age, gender: face.gender } }) };
  });
}

/** The chapter on age and gender; a face that was not found counts as wrong. */
export function attributesChapter(portraits: readonly MeasuredPortrait[]): Chapter {
  const all = scoresOf(portraits);
  const figure = (what: string, right: number, target: number) => ({
    what,
    measured: percent(right, all.n),
    target: `≥ ${100 * target} %`,
    reached: right / all.n >= target,
  });
  const groups = AGE_RANGES.flatMap((age) =>
    (["female", "male"] as const).map((gender) => ({
      name: `${age}, ${gender}`,
      list: portraits.filter((portrait) => portrait.age === age && portrait.gender === gender),
    })),
  );
  return {
    title: "Age and gender",
    figures: [
      figure("age range exact", all.exact, 0.71),
      figure("age range within one", all.withinOne, 0.96),
      figure("gender", all.gender, 0.84),
    ],
    body: [
      "Labels are how old and of which gender a face appeared to annotators. Nothing here is fitted.",
      table(
        ["group", "n", "age exact", "within one", "gender"],
        [...groups, { name: "all", list: portraits }].map(({ name, list }) => {
          const { n, exact, withinOne, gender } = scoresOf(list);
          return [name, n, percent(exact, n), percent(withinOne, n), percent(gender, n)];
        }),
      ),
    ].join("\n\n"),
  };
}

function scoresOf(portraits: readonly MeasuredPortrait[]) {
  const count = (isRight: (read: NonNullable<MeasuredPortrait["read"]>, label: Portrait) => boolean) =>
    portraits.filter((portrait) => portrait.read && isRight(portrait.read, portrait)).length;
  return {
    n: portraits.length,
    exact: count((read, label) => read.age === label.age),
    withinOne: count(
      (read, label) => Math.abs(AGE_RANGES.indexOf(read.age) - AGE_RANGES.indexOf(label.age)) <= 1,
    ),
    gender: count((read, label) => read.gender === label.gender),
  };
}
