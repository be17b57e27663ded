import { readFileSync } from "node:fs";
import {
  AGE_RANGES,
  type AgeRange,
  type Analyzer,
  type Attributes,
  attributesOf,
} from "../../src/core/index.ts";
import type { Portrait } from "../../tools/support/datasets.ts";
import { formatPercent, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { mean } from "../../tools/support/statistics.ts";
import type { Chapter } from "../report.ts";
import {
  type Answer,
  chanceCalibrationError,
  expectedCalibrationError,
  formatBins,
} from "./confidence-bins.ts";

/** Edges of the bins by confidence. */
const AGE_EDGES = [0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
const GENDER_EDGES = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1];

/** The range that is described by itself, because it has had the lowest recall since the first network. */
const YOUTH: AgeRange = "10-20";

/** A portrait with its prediction. The prediction is missing if no face was found. */
export interface MeasuredPortrait extends Portrait {
  readonly predicted?: Attributes;
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
      ...describeConfidence(portraits),
      ...describeConfusion(portraits),
    ].join("\n\n"),
  };
}

/** The calibration of both confidences, of the faces that were found. */
function describeConfidence(portraits: readonly MeasuredPortrait[]): string[] {
  const describe = (name: string, answers: readonly Answer[], edges: readonly number[]) => [
    `Calibration of the confidence of ${name}. The expected calibration error (ECE) is ${expectedCalibrationError(answers, edges).toFixed(3)}; if every confidence were exact, chance would give ${chanceCalibrationError(answers, edges).toFixed(3)} with this many faces. The mean confidence is ${mean(answers.map(({ confidence }) => confidence)).toFixed(3)}.`,
    formatBins(["confidence", "faces", "mean confidence", "correct"], answers, edges),
  ];
  return [
    ...describe("the age range", answersOf(portraits, "age"), AGE_EDGES),
    ...describe("gender", answersOf(portraits, "gender"), GENDER_EDGES),
  ];
}

function answersOf(portraits: readonly MeasuredPortrait[], attribute: "age" | "gender"): Answer[] {
  return portraits.flatMap(({ predicted, ...label }) =>
    predicted
      ? {
          confidence: predicted[`${attribute}Confidence`],
          isCorrect: predicted[attribute] === label[attribute],
        }
      : [],
  );
}

/** Which ranges the age is mistaken for. */
function describeConfusion(portraits: readonly MeasuredPortrait[]): string[] {
  const found = portraits.filter(({ predicted }) => predicted);
  const count = (labelled: AgeRange, predicted: AgeRange) =>
    found.filter((portrait) => portrait.age === labelled && portrait.predicted!.age === predicted).length;
  const answers = answersOf(
    found.filter(({ predicted }) => predicted!.age === YOUTH),
    "age",
  );
  const labelled = portraits.filter(({ age }) => age === YOUTH).length;
  const confidence = mean(answers.map((answer) => answer.confidence)).toFixed(3);
  return [
    `Labelled ranges (rows) and predicted ranges (columns). Of ${labelled} faces labelled ${YOUTH}, ${count(YOUTH, YOUTH)} get this range. Of ${answers.length} faces that get it, ${count(YOUTH, YOUTH)} are labelled so; the mean confidence of these answers is ${confidence}.`,
    formatTable(
      ["labelled", ...AGE_RANGES],
      AGE_RANGES.map((label) => [label, ...AGE_RANGES.map((predicted) => count(label, predicted))]),
    ),
  ];
}

function countCorrect(portraits: readonly MeasuredPortrait[]) {
  const count = (isCorrect: (predicted: Attributes, label: Portrait) => boolean) =>
    portraits.filter((portrait) => portrait.predicted && isCorrect(portrait.predicted, portrait)).length;
  return {
    n: portraits.length,
    exact: count((predicted, label) => predicted.age === label.age),
    adjacent: count(
      (predicted, label) => Math.abs(AGE_RANGES.indexOf(predicted.age) - AGE_RANGES.indexOf(label.age)) <= 1,
    ),
    gender: count((predicted, label) => predicted.gender === label.gender),
  };
}
