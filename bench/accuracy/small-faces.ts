import sharp from "sharp";
import { boxCenter, longerSide } from "../../src/core/geometry.ts";
import { type Analyzer, distanceOf, MATCH_DISTANCE } from "../../src/core/index.ts";
import { resize } from "../../tools/support/degradations.ts";
import { everyNth } from "../../tools/support/every-nth.ts";
import { formatPercent, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { median } from "../../tools/support/statistics.ts";
import type { Chapter } from "../report.ts";
import { isAt, type Subject } from "./subjects.ts";

const SUBJECTS = 60;
/** Height of the faces in pixels. */
const SIZES = [64, 40, 32, 24, 20, 16, 12];
/** The size whose share is a key figure. */
const KEY_SIZE = 20;
const CANVAS = { width: 1024, height: 768 };

/** What is found of faces of one size. */
export interface SmallFaces {
  readonly size: number;
  readonly photos: number;
  /** Distance of each face that is found to the same face in the photo as it is. */
  readonly distances: readonly number[];
}

/** Shrinks photos, places each in a large grey image, and looks for the face. */
export function measureSmallFaces(analyzer: Analyzer, subjects: readonly Subject[]): Promise<SmallFaces[]> {
  const chosen = everyNth(subjects, SUBJECTS);
  return mapWithProgress("small faces", SIZES, async (size) => {
    const distances: number[] = [];
    for (const [i, subject] of chosen.entries()) {
      const { image, center } = await shrink(subject, size, i);
      const { faces } = await analyzer.analyze(image, {
        landmarks: false,
        attributes: false,
        embeddings: true,
      });
      const face = faces.find(({ box }) => isAt(center, box));
      if (face) distances.push(distanceOf(face.embedding!, subject.vector));
    }
    return { size, photos: chosen.length, distances };
  });
}

/** Returns an image with the shrunken photo at a place that depends on `index`, and the centre of the face in it. */
async function shrink({ photo, width, height, box }: Subject, size: number, index: number) {
  const scale = size / longerSide(box);
  const [left, top] = [(index * 97) % (CANVAS.width / 2), (index * 61) % (CANVAS.height / 2)];
  const image = await sharp({ create: { ...CANVAS, channels: 3, background: "#808080" } })
    .composite([{ input: await resize(photo, width * scale, height * scale), left, top }])
    .png()
    .toBuffer();
  const { x, y } = boxCenter(box);
  return { image, center: { x: left + x * scale, y: top + y * scale } };
}

/** Reports how many faces of each size are found, and how far their vectors are from those of the large faces. */
export function smallFacesChapter(sizes: readonly SmallFaces[]): Chapter {
  const key = sizes.find(({ size }) => size === KEY_SIZE)!;
  return {
    title: "Small faces",
    figures: [
      {
        name: `faces of ${KEY_SIZE} pixels found`,
        measured: formatPercent(key.distances.length, key.photos),
        target: "≥ 90 %",
        isMet: key.distances.length / key.photos >= 0.9,
      },
    ],
    body: [
      `${key.photos} photos of the verification set, each shrunk until the face has the given height and placed in a grey image of ${CANVAS.width} x ${CANVAS.height} pixels. The distance is to the vector of the photo as it is.`,
      formatTable(
        ["height of the face", "found", "median distance", "match"],
        sizes.map(({ size, photos, distances }) => [
          `${size} px`,
          formatPercent(distances.length, photos),
          distances.length === 0 ? "-" : median(distances).toFixed(3),
          formatPercent(distances.filter((distance) => distance < MATCH_DISTANCE).length, photos),
        ]),
      ),
    ].join("\n\n"),
  };
}
