import { type Analyzer, isUsable, MIN_USABLE_VALUE, type Quality } from "../../src/core/index.ts";
import type { Pair } from "../../tools/support/datasets.ts";
import { formatPercent, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import {
  measureQualitySamples,
  measureUnharmed,
  type QualitySample,
} from "../../tools/support/quality-samples.ts";
import { median } from "../../tools/support/statistics.ts";
import type { Chapter } from "../report.ts";
import { type NonFaceImages, nonFaceImages } from "./non-faces.ts";

const PEOPLE = 50;
const WHOLE = { x1: 0, y1: 0, x2: 640, y2: 480 };

/** The share of photos that is discarded in the key figure, and all shares of the curve. */
const DISCARDED = 0.1;
const SHARES = [0, 0.05, DISCARDED, 0.15, 0.2, 0.3, 0.5];

/** What should be usable, and what should not. */
const USABLE = ["brightness x 0.25", "face of 40 pixels", "photo shrunk to a face of 40 pixels"];
const UNUSABLE = ["blur, sigma 5", "dark bar over the eyes"];

/** Quality on the held-out half. */
export interface MeasuredQuality {
  readonly samples: readonly QualitySample[];
  readonly unharmed: readonly Quality[];
  readonly nonFaces: readonly { readonly kind: string; readonly qualities: readonly Quality[] }[];
}

/** Measures the quality of degraded and unharmed photos of the held-out half, and of images that show no face. */
export async function measureQuality(analyzer: Analyzer, pairs: readonly Pair[]): Promise<MeasuredQuality> {
  const samples = await measureQualitySamples(analyzer, pairs, "heldOut", PEOPLE);
  const unharmed = await measureUnharmed(analyzer, pairs, "heldOut");
  const nonFaces = await mapWithProgress("no faces", nonFaceImages(), ({ kind, images }) =>
    measureNonFaces(analyzer, kind, images),
  );
  return { samples, unharmed, nonFaces };
}

/** Takes each whole image as a face, as a request with `face_det` off does. */
async function measureNonFaces(analyzer: Analyzer, kind: string, images: NonFaceImages["images"]) {
  const qualities: Quality[] = [];
  for (const image of images) {
    const options = { boxes: [WHOLE], detect: false, attributes: false, quality: true };
    const { faces } = await analyzer.analyze(await image(), options);
    qualities.push(faces[0]!.quality!);
  }
  return { kind, qualities };
}

/** The misses that remain when a share of the samples, those of the lowest value, is discarded. */
export function missesAfterDiscarding(samples: readonly QualitySample[], share: number): number {
  const sorted = samples.toSorted((one, other) => one.quality.value - other.quality.value);
  return countMisses(sorted.slice(Math.round(share * sorted.length)));
}

function countMisses(samples: readonly QualitySample[]): number {
  return samples.filter(({ isMiss }) => isMiss).length;
}

/** Reports how well the value predicts misses, and what is usable. */
export function qualityChapter({ samples, unharmed, nonFaces }: MeasuredQuality): Chapter {
  const misses = countMisses(samples);
  const removed = (share: number) => misses - missesAfterDiscarding(samples, share);
  const perfect = Math.min(1, (DISCARDED * samples.length) / misses);
  const usableOf = (names: readonly string[]) =>
    samples.filter(({ degradation }) => names.includes(degradation)).map(({ quality }) => quality);
  const unusable = unharmed.filter((quality) => !isUsable(quality)).length;
  const harmless = shareUsable(usableOf(USABLE));
  const harmful = shareUsable(usableOf(UNUSABLE));
  const others = shareUsable(nonFaces.flatMap(({ qualities }) => qualities));
  const degradations = [...new Set(samples.map(({ degradation }) => degradation))];
  return {
    title: "Quality",
    figures: [
      {
        name: "misses removed by discarding the worst 10 % of degraded photos",
        measured: formatPercent(removed(DISCARDED), misses),
        target: "≥ 50 %",
        isMet: removed(DISCARDED) / misses >= 0.5,
      },
      {
        name: "unharmed photos called unusable",
        measured: `${unusable} of ${unharmed.length}`,
        target: "0",
        isMet: unusable === 0,
      },
      {
        name: "brightness x 0.25 and faces of 40 pixels: usable",
        measured: harmless.text,
        target: "≥ 98 %",
        isMet: harmless.share >= 0.98,
      },
      {
        name: "blur of sigma 5 and covered eyes: usable",
        measured: harmful.text,
        target: "≤ 10 %",
        isMet: harmful.share <= 0.1,
      },
      {
        name: "images without a face, taken as one: usable",
        measured: others.text,
        target: "0.0 %",
        isMet: others.share === 0,
      },
    ],
    body: [
      `The value of a face predicts whether it matches another photo of the person. It was fitted on one half of the verification set; this chapter uses the other: degraded photos of ${PEOPLE} people whose photos match as they are, ${degradations.length} ways each. A face is usable from a value of ${MIN_USABLE_VALUE}. Faces that are not found are left out.`,
      `Error versus discard: when the photos of the lowest value are discarded, how many of the ${misses} misses among ${samples.length} degraded photos are gone, and how many photos of the rest miss. A perfect value would remove ${formatPercent(perfect, 1, 0)} of the misses at 10 %: the others are more than a tenth of the photos.`,
      formatTable(
        ["discarded", "misses removed", "miss rate of the rest"],
        SHARES.map((share) => {
          const kept = samples.length - Math.round(share * samples.length);
          return [
            formatPercent(share, 1, 0),
            formatPercent(removed(share), misses),
            formatPercent(missesAfterDiscarding(samples, share), kept),
          ];
        }),
      ),
      formatTable(
        ["photo", "photos", "miss", "median value", "usable"],
        [
          ["unharmed", unharmed.length, "-", medianValue(unharmed), shareUsable(unharmed).text],
          ...degradations.map((name) => {
            const rows = samples.filter(({ degradation }) => degradation === name);
            const qualities = rows.map(({ quality }) => quality);
            const missed = formatPercent(countMisses(rows), rows.length);
            return [name, rows.length, missed, medianValue(qualities), shareUsable(qualities).text];
          }),
          ...nonFaces.map(({ kind, qualities }) => [
            `no face: ${kind}`,
            qualities.length,
            "-",
            medianValue(qualities),
            shareUsable(qualities).text,
          ]),
        ],
      ),
    ].join("\n\n"),
  };
}

function shareUsable(qualities: readonly Quality[]): { readonly share: number; readonly text: string } {
  const usable = qualities.filter(isUsable).length;
  return { share: usable / qualities.length, text: formatPercent(usable, qualities.length) };
}

function medianValue(qualities: readonly Quality[]): string {
  return median(qualities.map(({ value }) => value)).toFixed(0);
}
