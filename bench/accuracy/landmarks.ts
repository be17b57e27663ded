import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Analyzer, Point } from "../../src/core/index.ts";
import { type AnnotatedPhoto, splitOfFile } from "../../tools/support/datasets.ts";
import { findAnnotatedFace } from "../../tools/support/evaluation.ts";
import { formatPercent, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { mean } from "../../tools/support/statistics.ts";
import type { Chapter } from "../report.ts";

/** The groups of the 68 landmarks: first index, and one past the last. */
const GROUPS = {
  jaw: [0, 17],
  brows: [17, 27],
  nose: [27, 36],
  eyes: [36, 48],
  mouth: [48, 68],
} as const;

/** A photo with the error of each landmark. The errors are missing if the face was not found. */
export interface MeasuredFace {
  readonly file: string;
  /** Distance to the annotated landmark, as a fraction of the distance between the outer eye corners. */
  readonly errors?: readonly number[];
}

/** The IoU from which a detected face is the annotated one. */
const SAME_FACE_IOU = 0.3;

/** Measures the error of the 68 landmarks in each photo. */
export function measureLandmarks(
  analyzer: Analyzer,
  photos: readonly AnnotatedPhoto[],
): Promise<MeasuredFace[]> {
  return mapWithProgress("68 landmarks", photos, async ({ file, landmarks }) => {
    const { faces } = await analyzer.analyze(readFileSync(file));
    const found = findAnnotatedFace(faces, landmarks);
    if (!found || found.iou < SAME_FACE_IOU) return { file };
    return { file, errors: normalizedErrors(found.face.landmarks, landmarks) };
  });
}

function normalizedErrors(found: readonly Point[], annotated: readonly Point[]): number[] {
  const eyeDistance = distance(annotated[36]!, annotated[45]!);
  return annotated.map((point, i) => distance(found[i]!, point) / eyeDistance);
}

function distance(one: Point, other: Point): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}

/** Reports the normalised mean error of the 68 landmarks. */
export function landmarksChapter(faces: readonly MeasuredFace[]): Chapter {
  const heldOut = faces.filter(({ file }) => splitOfFile(file) === "heldOut");
  const found = faces.filter(({ errors }) => errors).length;
  const sources = [...new Set(faces.map(({ file }) => sourceOf(file)))];
  const rows = [
    ["held out", heldOut],
    ...sources.map(
      (source) => [`held out, ${source}`, heldOut.filter(({ file }) => sourceOf(file) === source)] as const,
    ),
    ["all", faces],
  ] as const;
  return {
    title: "68 landmarks",
    figures: [
      createFigure("landmark error, held-out photos", heldOut),
      createFigure("landmark error, all photos", faces),
      {
        name: "annotated faces found",
        measured: `${found} of ${faces.length}`,
        target: "all",
        isMet: found === faces.length,
      },
    ],
    body: [
      "Normalised mean error: the distance to the annotated landmark, as a percentage of the distance between the outer eye corners.",
      formatTable(
        ["photos", "n", "mean", ...Object.keys(GROUPS)],
        rows.map(([name, members]) => [
          name,
          members.length,
          formatPercent(meanError(members), 1, 2),
          ...Object.values(GROUPS).map((group) => formatPercent(meanError(members, group), 1, 2)),
        ]),
      ),
    ].join("\n\n"),
  };
}

function createFigure(name: string, faces: readonly MeasuredFace[]) {
  const error = meanError(faces);
  return { name, measured: formatPercent(error, 1, 2), target: "≤ 4.4 %", isMet: error <= 0.044 };
}

function meanError(faces: readonly MeasuredFace[], [from, to]: readonly [number, number] = [0, 68]): number {
  return mean(faces.flatMap(({ errors }) => (errors ? [mean(errors.slice(from, to))] : [])));
}

/** The set that a photo comes from, such as HELEN: the first part of its file name, if it has several. */
function sourceOf(file: string): string {
  return /^([a-z]+)[-_]/i.exec(basename(file))?.[1]?.toUpperCase() ?? "other sets";
}
