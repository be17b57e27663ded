import sharp from "sharp";
import { boxCenter } from "../../src/core/geometry.ts";
import { type Analyzer, distanceOf, MATCH_DISTANCE, type Point } from "../../src/core/index.ts";
import { embedImage } from "../../tools/support/evaluation.ts";
import { everyNth } from "../../tools/support/every-nth.ts";
import { formatPercent, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { median } from "../../tools/support/statistics.ts";
import type { Chapter } from "../report.ts";
import { isAt, type Subject } from "./subjects.ts";

const SUBJECTS = 40;
const DEGREES = Array.from({ length: 23 }, (_, i) => 15 * (i + 1));

/** What is found in photos that are turned by one angle. */
export interface Turned {
  readonly degrees: number;
  readonly photos: number;
  /** Distance of each face that is found to the same face in the upright photo. */
  readonly distances: readonly number[];
}

/** Turns photos by every multiple of 15 degrees, and compares the vectors with those of the upright photos. */
export async function measureAngles(analyzer: Analyzer, subjects: readonly Subject[]): Promise<Turned[]> {
  const chosen = everyNth(subjects, SUBJECTS);
  return mapWithProgress("angles", DEGREES, async (degrees) => {
    const distances: number[] = [];
    for (const subject of chosen) {
      const turned = sharp(subject.photo).rotate(degrees, { background: "#808080" }).jpeg({ quality: 95 });
      const face = await embedImage(analyzer, await turned.toBuffer());
      if (face && isAt(turnedCenter(subject, degrees, face), face.box))
        distances.push(distanceOf(face.embedding, subject.vector));
    }
    return { degrees, photos: chosen.length, distances };
  });
}

/** The centre of the face in the turned photo, which is as large as it must be to show the whole photo. */
function turnedCenter(
  { box, width, height }: Subject,
  degrees: number,
  turned: { readonly width: number; readonly height: number },
): Point {
  const radians = (degrees * Math.PI) / 180;
  const { x, y } = boxCenter(box);
  const [dx, dy] = [x - width / 2, y - height / 2];
  return {
    x: turned.width / 2 + dx * Math.cos(radians) - dy * Math.sin(radians),
    y: turned.height / 2 + dx * Math.sin(radians) + dy * Math.cos(radians),
  };
}

/** Reports how many turned faces are found, and how far their vectors are from those of the upright faces. */
export function anglesChapter(angles: readonly Turned[]): Chapter {
  const found = angles.flatMap(({ distances }) => distances).length;
  const photos = angles.reduce((total, angle) => total + angle.photos, 0);
  const worst = Math.max(...angles.map(({ distances }) => median(distances)));
  return {
    title: "Angles",
    figures: [
      {
        name: "turned faces found, every 15 degrees",
        measured: formatPercent(found, photos),
        target: "≥ 98 %",
        isMet: found / photos >= 0.98,
      },
      {
        name: "median distance to the upright vector, worst angle",
        measured: worst.toFixed(3),
        target: "< 0.2",
        isMet: worst < 0.2,
      },
    ],
    body: [
      `${angles[0]!.photos} photos of the verification set, turned clockwise. The distance is to the vector of the same photo upright; it matches below ${MATCH_DISTANCE}.`,
      formatTable(
        ["degrees", "found", "median distance", "match"],
        angles.map(({ degrees, photos: n, distances }) => [
          degrees,
          formatPercent(distances.length, n),
          median(distances).toFixed(3),
          formatPercent(distances.filter((distance) => distance < MATCH_DISTANCE).length, n),
        ]),
      ),
    ].join("\n\n"),
  };
}
