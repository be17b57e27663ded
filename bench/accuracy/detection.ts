import { readFileSync } from "node:fs";
import { overlapOf } from "../../src/core/geometry.ts";
import type { Analyzer, Box } from "../../src/core/index.ts";
import { halfOf, type Scene } from "../../tools/support/datasets.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { type Chapter, percent, table } from "../report.ts";

/** How a photograph's labelled heads and the faces found go together. */
export interface MeasuredScene {
  readonly file: string;
  readonly labelled: number;
  readonly hits: number;
  readonly falseFaces: number;
}

/** Boxes are drawn around whole heads, so that a face is a hit from a modest overlap on. */
const HIT_OVERLAP = 0.3;

/** Compares the faces found with the labelled boxes. */
export function measureDetection(analyzer: Analyzer, scenes: readonly Scene[]): Promise<MeasuredScene[]> {
  return mapWithProgress("detection", scenes, async ({ file, boxes }) => {
    const { faces } = await analyzer.analyze(readFileSync(file));
    const hits = countHits(
      faces.map(({ box }) => box),
      boxes,
    );
    return { file, labelled: boxes.length, hits, falseFaces: faces.length - hits };
  });
}

/** How many boxes are hit, each by one face of its own, the best overlaps first. */
export function countHits(found: readonly Box[], labelled: readonly Box[]): number {
  const candidates = found
    .flatMap((box, face) => labelled.map((label, i) => ({ face, label: i, overlap: overlapOf(box, label) })))
    .filter(({ overlap }) => overlap >= HIT_OVERLAP)
    .sort((one, other) => other.overlap - one.overlap);
  const faces = new Set<number>();
  const labels = new Set<number>();
  for (const { face, label } of candidates) {
    if (faces.has(face) || labels.has(label)) continue;
    faces.add(face);
    labels.add(label);
  }
  return labels.size;
}

/** The chapter on finding faces. */
export function detectionChapter(scenes: readonly MeasuredScene[]): Chapter {
  const total = totalsOf(scenes);
  const rows = [
    ["not fitted on", scenes.filter(({ file }) => halfOf(file) === "report")],
    ["all", scenes],
  ] as const;
  return {
    title: "Finding faces",
    figures: [
      {
        what: "labelled boxes found (overlap 0.3)",
        measured: percent(total.hits, total.labelled),
        target: "≥ 93 %",
        reached: total.hits / total.labelled >= 0.93,
      },
      {
        what: "false faces",
        measured: String(total.falseFaces),
        target: "≤ 10",
        reached: total.falseFaces <= 10,
      },
    ],
    body: table(
      ["photographs", "n", "boxes", "found", "false faces"],
      rows.map(([name, list]) => {
        const { labelled, hits, falseFaces } = totalsOf(list);
        return [name, list.length, labelled, percent(hits, labelled), falseFaces];
      }),
    ),
  };
}

function totalsOf(scenes: readonly MeasuredScene[]) {
  const sum = (count: (scene: MeasuredScene) => number) =>
    scenes.reduce((total, scene) => total + count(scene), 0);
  return {
    labelled: sum(({ labelled }) => labelled),
    hits: sum(({ hits }) => hits),
    falseFaces: sum(({ falseFaces }) => falseFaces),
  };
}
