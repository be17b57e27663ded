import { readFileSync } from "node:fs";
import { AGE_RANGES, type AgeRange, type Analyzer, attributesOf } from "../../src/core/index.ts";
import type { Portrait } from "../../tools/support/datasets.ts";
import { formatPercent, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import type { Chapter } from "../report.ts";

/** A portrait with its prediction. The prediction is missing if no face was found. */
export interface MeasuredPortrait extends Portrait {
  readonly predicted?: { readonly age: AgeRange; readonly gender: "male" | "female" };
}

/** Predicts age range and gender of each portrait's most prominent face. */
export function measureAttributes(
  analyzer: Analyzer,
  portraits: readonly Portrait[],
): Promise<MeasuredPortrait[]> {
  return mapWithProgress("age and gender", portraits, async (portrait) => {
    const { faces } = await analyzer.analyze(readFileSync(portrait.file));
    const [face] = faces;
    return { ...portrait, ...(face && { predicted: attributesOf(face) }) };
  });
}

/** Reports the accuracy of age and gender. A face that was not found counts as wrong. */
export function attributesChapter(portraits: readonly MeasuredPortrait[]): Chapter {
  const all = countCorrect(portraits);
  const figure = (name: string, correct: number, target: number) => ({
    name,
    measured: formatPercent(correct, all.n),
    target: `≥ ${100 * target} %`,
    isMet: correct / all.n >= target,
  });
  const genders = ["female", "male"] as const;
  const groups = [
    ...AGE_RANGES.flatMap((age) =>
      genders.map((gender) => ({
        name: `${age}, ${gender}`,
        members: portraits.filter((portrait) => portrait.age === age && portrait.gender === gender),
      })),
    ),
    ...AGE_RANGES.map((age) => ({
      name: age,
      members: portraits.filter((portrait) => portrait.age === age),
    })),
    ...genders.map((gender) => ({
      name: gender,
      members: portraits.filter((portrait) => portrait.gender === gender),
    })),
  ];
  return {
    title: "Age and gender",
    figures: [
      figure("age range exact", all.exact, 0.71),
      figure("age range exact or adjacent", all.adjacent, 0.96),
      figure("gender", all.gender, 0.84),
    ],
    body: [
      "Labels are the age and gender that annotators saw. Nothing is fitted on this set.",
      formatTable(
        ["group", "n", "age exact", "exact or adjacent", "gender"],
        [...groups, { name: "all", members: portraits }].map(({ name, members }) => {
          const { n, exact, adjacent, gender } = countCorrect(members);
          return [name, n, formatPercent(exact, n), formatPercent(adjacent, n), formatPercent(gender, n)];
        }),
      ),
    ].join("\n\n"),
  };
}

function countCorrect(portraits: readonly MeasuredPortrait[]) {
  const count = (
    isCorrect: (predicted: NonNullable<MeasuredPortrait["predicted"]>, label: Portrait) => boolean,
  ) => portraits.filter((portrait) => portrait.predicted && isCorrect(portrait.predicted, portrait)).length;
  return {
    n: portraits.length,
    exact: count((predicted, label) => predicted.age === label.age),
    adjacent: count(
      (predicted, label) => Math.abs(AGE_RANGES.indexOf(predicted.age) - AGE_RANGES.indexOf(label.age)) <= 1,
    ),
    gender: count((predicted, label) => predicted.gender === label.gender),
  };
}
