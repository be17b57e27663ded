import { type Analyzer, distanceOf, MATCH_DISTANCE } from "../../src/core/index.ts";
import { DEGRADATIONS } from "../../tools/support/degradations.ts";
import { embedImage } from "../../tools/support/evaluation.ts";
import { everyNth } from "../../tools/support/every-nth.ts";
import { formatPercent, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { median, sum } from "../../tools/support/statistics.ts";
import type { Chapter } from "../report.ts";
import { isSameFace, type Subject } from "./subjects.ts";

const SUBJECTS = 60;

/** What is found in photos that are degraded in one way. */
export interface Degraded {
  readonly name: string;
  readonly photos: number;
  /** Distance of each face that is found to the person's other photo. */
  readonly distances: readonly number[];
}

/** Degrades photos in each way, and compares the faces with the same person's face in another photo. */
export function measureDegradations(analyzer: Analyzer, subjects: readonly Subject[]): Promise<Degraded[]> {
  const chosen = everyNth(subjects, SUBJECTS);
  return mapWithProgress("degradations", Object.entries(DEGRADATIONS), async ([name, degrade]) => {
    const distances: number[] = [];
    for (const subject of chosen) {
      const face = await embedImage(analyzer, await degrade(subject));
      if (face && isSameFace(face.box, subject.box))
        distances.push(distanceOf(face.embedding, subject.otherVector));
    }
    return { name, photos: chosen.length, distances };
  });
}

/** Reports how many degraded faces are found, and how many match the person's other photo. */
export function degradationsChapter(rows: readonly Degraded[]): Chapter {
  const matches = ({ distances }: Degraded) =>
    distances.filter((distance) => distance < MATCH_DISTANCE).length;
  const degraded = rows.filter(({ name }) => name !== "none");
  const photos = sum(degraded.map((row) => row.photos));
  const found = sum(degraded.map(({ distances }) => distances.length));
  const matching = sum(degraded.map(matches));
  return {
    title: "Degradations",
    figures: [
      {
        name: "degraded faces found",
        measured: formatPercent(found, photos),
        target: "≥ 95 %",
        isMet: found / photos >= 0.95,
      },
      {
        name: "degraded faces that match the person's other photo",
        measured: formatPercent(matching, photos),
        target: "≥ 85 %",
        isMet: matching / photos >= 0.85,
      },
    ],
    body: [
      `${rows[0]!.photos} photos of the verification set. Each degraded photo is compared with another photo of the same person as it is.`,
      formatTable(
        ["degradation", "found", "median distance", "match"],
        rows.map((row) => [
          row.name,
          formatPercent(row.distances.length, row.photos),
          row.distances.length === 0 ? "-" : median(row.distances).toFixed(3),
          formatPercent(matches(row), row.photos),
        ]),
      ),
    ].join("\n\n"),
  };
}
