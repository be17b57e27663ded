import sharp from "sharp";
import { longerSide } from "../../src/core/geometry.ts";
import { type Analyzer, distanceOf, MATCH_DISTANCE } from "../../src/core/index.ts";
import { embedImage } from "../../tools/support/evaluation.ts";
import { formatPercent, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { createRandom } from "../../tools/support/random.ts";
import { median, sum } from "../../tools/support/statistics.ts";
import type { Chapter } from "../report.ts";
import { everyNth, isSameFace, resize, type Subject } from "./subjects.ts";

const SUBJECTS = 60;

type Degrade = (subject: Subject) => Promise<Buffer>;

const DEGRADATIONS: Readonly<Record<string, Degrade>> = {
  none: async ({ photo }) => photo,
  "blur, sigma 1": blur(1),
  "blur, sigma 2": blur(2),
  "blur, sigma 3": blur(3),
  "blur, sigma 5": blur(5),
  "JPEG quality 20": compress(20),
  "JPEG quality 10": compress(10),
  "JPEG quality 5": compress(5),
  "noise, sigma 20": addNoise(20),
  "noise, sigma 40": addNoise(40),
  "brightness x 0.5": darken(0.5),
  "brightness x 0.25": darken(0.25),
  "brightness x 0.1": darken(0.1),
  "face of 60 pixels": shrinkAndEnlarge(60),
  "face of 40 pixels": shrinkAndEnlarge(40),
  "face of 24 pixels": shrinkAndEnlarge(24),
  "dark bar over the eyes": cover("#101010", 0.28, 0.48),
  "mask over mouth and nose": cover("#c8d8e8", 0.55, 1),
};

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
        distances.push(distanceOf(face.vector, subject.otherVector));
    }
    return { name, photos: chosen.length, distances };
  });
}

function blur(sigma: number): Degrade {
  return ({ photo }) => sharp(photo).blur(sigma).png().toBuffer();
}

function compress(quality: number): Degrade {
  return ({ photo }) => sharp(photo).jpeg({ quality }).toBuffer();
}

/** Adds the same Gaussian noise to every photo. */
function addNoise(sigma: number): Degrade {
  return async ({ photo }) => {
    const { data, info } = await sharp(photo).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    const random = createRandom(1);
    const noisy = data.map((value) => Math.max(0, Math.min(255, value + sigma * gaussian(random))));
    return sharp(noisy, { raw: info }).png().toBuffer();
  };
}

/** Box-Muller transform. */
function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function darken(factor: number): Degrade {
  return ({ photo }) => sharp(photo).linear(factor, 0).png().toBuffer();
}

/** Keeps only the detail of a face of this many pixels. */
function shrinkAndEnlarge(pixels: number): Degrade {
  return async ({ photo, width, height, box }) => {
    const scale = pixels / longerSide(box);
    return resize(await resize(photo, width * scale, height * scale), width, height);
  };
}

/** Covers the face between two shares of the height of its box. */
function cover(background: string, from: number, to: number): Degrade {
  return ({ photo, box: { x1, y1, x2, y2 } }) => {
    const [width, height] = [Math.round(x2 - x1), Math.round((to - from) * (y2 - y1))];
    const input = { create: { width, height, channels: 3, background } } as const;
    const [left, top] = [Math.round(x1), Math.round(y1 + from * (y2 - y1))];
    return sharp(photo).composite([{ input, left, top }]).png().toBuffer();
  };
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
