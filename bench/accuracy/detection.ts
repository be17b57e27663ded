import { readFileSync } from "node:fs";
import type { Analyzer } from "../../src/core/index.ts";
import { type Scene, splitOfFile } from "../../tools/support/datasets.ts";
import { countTruePositives } from "../../tools/support/evaluation.ts";
import { formatPercent, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { sum } from "../../tools/support/statistics.ts";
import type { Chapter } from "../report.ts";

/** The detections in one photo, compared with its labels. */
export interface MeasuredScene {
  readonly file: string;
  readonly labelled: number;
  readonly truePositives: number;
  readonly falsePositives: number;
}

/** Compares the detected faces with the labelled boxes. */
export function measureDetection(analyzer: Analyzer, scenes: readonly Scene[]): Promise<MeasuredScene[]> {
  return mapWithProgress("detection", scenes, async ({ file, boxes }) => {
    const { faces } = await analyzer.analyze(readFileSync(file));
    const truePositives = countTruePositives(
      faces.map(({ box }) => box),
      boxes,
    );
    return { file, labelled: boxes.length, truePositives, falsePositives: faces.length - truePositives };
  });
}

/** Reports recall and false positives of the face detection. */
export function detectionChapter(scenes: readonly MeasuredScene[]): Chapter {
  const total = totalOf(scenes);
  const rows = [
    ["held out", scenes.filter(({ file }) => splitOfFile(file) === "heldOut")],
    ["all", scenes],
  ] as const;
  return {
    title: "Face detection",
    figures: [
      {
        name: "labelled faces detected (IoU ≥ 0.3)",
        measured: formatPercent(total.truePositives, total.labelled),
        target: "≥ 97 %",
        isMet: total.truePositives / total.labelled >= 0.97,
      },
      {
        name: "false positives",
        measured: String(total.falsePositives),
        target: "≤ 2",
        isMet: total.falsePositives <= 2,
      },
    ],
    body: formatTable(
      ["photos", "n", "labelled faces", "detected", "false positives"],
      rows.map(([name, members]) => {
        const { labelled, truePositives, falsePositives } = totalOf(members);
        return [name, members.length, labelled, formatPercent(truePositives, labelled), falsePositives];
      }),
    ),
  };
}

function totalOf(scenes: readonly MeasuredScene[]) {
  return {
    labelled: sum(scenes.map(({ labelled }) => labelled)),
    truePositives: sum(scenes.map(({ truePositives }) => truePositives)),
    falsePositives: sum(scenes.map(({ falsePositives }) => falsePositives)),
  };
}
