import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { boundsOf, overlapOf } from "../../src/core/geometry.ts";
import type { Analyzer, Point } from "../../src/core/index.ts";
import { type Annotated, halfOf } from "../../tools/support/datasets.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { type Chapter, mean, percent, table } from "../report.ts";

/** The spec's groups of points: first and one past the last. */
export const GROUPS = {
  jaw: [0, 17],
  brows: [17, 27],
  nose: [27, 36],
  eyes: [36, 48],
  mouth: [48, 68],
} as const;

/** A photograph with the error of each point; without errors where the face was not found. */
export interface MeasuredFace {
  readonly file: string;
  /** Distance to the annotated point, as a share of the distance of the outer eye corners. */
  readonly errors?: readonly number[];
}

/** Overlap from which a face found is the annotated one. */
const SAME_FACE_OVERLAP = 0.3;

/** Measures the error of the 68 points in each photograph. */
export function measureLandmarks(analyzer: Analyzer, photos: readonly Annotated[]): Promise<MeasuredFace[]> {
  return mapWithProgress("68 points", photos, async ({ file, points }) => {
    const { faces } = await analyzer.analyze(readFileSync(file));
    const place = boundsOf(points);
    const [best] = faces.toSorted((one, other) => overlapOf(other.box, place) - overlapOf(one.box, place));
    if (!best || overlapOf(best.box, place) < SAME_FACE_OVERLAP) return { file };
    return { file, errors: errorsOf(best.landmarks, points) };
  });
}

/** Errors of 68 points as shares of the distance of the annotated outer eye corners. */
export function errorsOf(found: readonly Point[], annotated: readonly Point[]): number[] {
  const eyeDistance = distance(annotated[36]!, annotated[45]!);
  return annotated.map((point, i) => distance(found[i]!, point) / eyeDistance);
}

function distance(one: Point, other: Point): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}

/** The chapter on the 68 points. */
export function landmarksChapter(faces: readonly MeasuredFace[]): Chapter {
  const reported = faces.filter(({ file }) => halfOf(file) === "report");
  const found = faces.filter(({ errors }) => errors).length;
  const sources = [...new Set(faces.map(({ file }) => sourceOf(file)))];
  const rows = [
    ["not fitted on", reported],
    ...sources.map(
      (source) => [`of these, ${source}`, reported.filter(({ file }) => sourceOf(file) === source)] as const,
    ),
    ["all", faces],
  ] as const;
  return {
    title: "68 points",
    figures: [
      figure("mean error, photographs not fitted on", reported),
      figure("mean error, all photographs", faces),
      {
        what: "annotated faces found",
        measured: `${found} of ${faces.length}`,
        target: "all",
        reached: found === faces.length,
      },
    ],
    body: [
      "Distance to the annotated point, as a share of the distance between the outer corners of the eyes.",
      table(
        ["photographs", "n", "mean", ...Object.keys(GROUPS)],
        rows.map(([name, list]) => [
          name,
          list.length,
          percent(errorOf(list), 1, 2),
          ...Object.values(GROUPS).map((group) => percent(errorOf(list, group), 1, 2)),
        ]),
      ),
    ].join("\n\n"),
  };
}

function figure(what: string, faces: readonly MeasuredFace[]) {
  const error = errorOf(faces);
  return { what, measured: percent(error, 1, 2), target: "≤ 4.4 %", reached: error <= 0.044 };
}

function errorOf(faces: readonly MeasuredFace[], [from, to]: readonly [number, number] = [0, 68]): number {
  return mean(faces.flatMap(({ errors }) => (errors ? [mean(errors.slice(from, to))] : [])));
}

/** HELEN and AFW are told apart by how their files begin. */
function sourceOf(file: string): string {
  return basename(file).split("-")[0]!.toUpperCase();
}
