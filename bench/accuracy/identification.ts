import type { Embedding, FalseMatchRates } from "../../src/core/index.ts";
import { thresholdForSize } from "../../src/galleries/gallery-threshold.ts";
import { TemplateIndex } from "../../src/search/template-index.ts";
import { formatPercent, formatTable } from "../../tools/support/format.ts";
import { Progress } from "../../tools/support/progress.ts";
import { createRandom } from "../../tools/support/random.ts";
import { mean, sum } from "../../tools/support/statistics.ts";
import type { Chapter } from "../report.ts";
import { personOf } from "./false-match-curve.ts";

/** How often strangers match somebody in galleries of one size, and how often enrolled people are not found. */
export interface Identification {
  readonly people: number;
  /** Enrolled photos of each person, at most. */
  readonly photosPerPerson: number;
  /** The mean of all galleries. */
  readonly threshold: number;
  /** Searches for people who are not enrolled, and how many of them matched somebody. */
  readonly strangers: number;
  readonly falsePositives: number;
  /** Searches for enrolled people by another photo, and how many of them did not find the person first. */
  readonly mates: number;
  readonly falseNegatives: number;
}

const SIZES = [50, 100, 250, 500];
const PHOTOS_PER_PERSON = [1, 3];
/** Random galleries of each size. */
const DRAWS = 20;
const SEED = 1;

/** Searches random galleries for strangers and for the people in them, with the thresholds of the service. */
export function measureIdentification(
  vectors: ReadonlyMap<string, Embedding>,
  rates: FalseMatchRates,
): Identification[] {
  const photosOf = new Map<string, Embedding[]>();
  for (const [file, vector] of [...vectors].toSorted(byName)) {
    const person = personOf(file);
    photosOf.set(person, [...(photosOf.get(person) ?? []), vector]);
  }
  const people = [...photosOf.values()];
  const galleries = SIZES.filter((size) => size < people.length).flatMap((size) =>
    PHOTOS_PER_PERSON.map((photosPerPerson) => ({ size, photosPerPerson })),
  );
  const progress = new Progress("identification", galleries.length * DRAWS);
  return galleries.map(({ size, photosPerPerson }) =>
    searchGalleries(people, size, photosPerPerson, rates, progress),
  );
}

function byName([one]: readonly [string, Embedding], [other]: readonly [string, Embedding]): number {
  return one < other ? -1 : 1;
}

function searchGalleries(
  people: readonly (readonly Embedding[])[],
  size: number,
  photosPerPerson: number,
  rates: FalseMatchRates,
  progress: Progress,
): Identification {
  const random = createRandom(SEED);
  const thresholds: number[] = [];
  const totals = { strangers: 0, falsePositives: 0, mates: 0, falseNegatives: 0 };
  for (let draw = 0; draw < DRAWS; draw++) {
    const shuffled = people
      .map((photos) => ({ photos, order: random() }))
      .toSorted((one, other) => one.order - other.order)
      .map(({ photos }) => photos);
    const [enrolled, others] = [shuffled.slice(0, size), shuffled.slice(size)];
    // The last photo of a person is left for the search, unless it is the only one.
    const templates = enrolled.map((photos) =>
      photos.slice(0, Math.min(photosPerPerson, Math.max(1, photos.length - 1))),
    );
    const { distance: threshold } = thresholdForSize(templates.flat().length, rates, ["adults"]);
    thresholds.push(threshold);
    const index = createIndex(templates);
    for (const [probe] of others) {
      totals.strangers++;
      if (index.nearest(probe!, { within: threshold }).length > 0) totals.falsePositives++;
    }
    for (const [person, photos] of enrolled.entries())
      for (const probe of photos.slice(templates[person]!.length)) {
        const [nearest] = index.nearest(probe, { within: threshold });
        totals.mates++;
        if (!nearest?.id.startsWith(`${person}/`)) totals.falseNegatives++;
      }
    progress.step();
  }
  return { people: size, photosPerPerson, threshold: mean(thresholds), ...totals };
}

/** Indexes the templates of each person. The ids start with the number of the person. */
function createIndex(people: readonly (readonly Embedding[])[]): TemplateIndex {
  const index = new TemplateIndex();
  for (const [person, vectors] of people.entries())
    for (const [i, vector] of vectors.entries()) index.add(`${person}/${i}`, vector);
  return index;
}

/** The rate of false positives that the thresholds are chosen for, with room for the noise of small sets. */
const MAX_FALSE_POSITIVE_RATE = 0.01;

/** Reports the rates of false positives and false negatives. */
export function identificationChapter(results: readonly Identification[]): Chapter {
  const rows = results.map((result) => [
    result.people,
    result.photosPerPerson,
    result.threshold.toFixed(3),
    `${formatPercent(result.falsePositives, result.strangers, 2)} of ${result.strangers}`,
    `${formatPercent(result.falseNegatives, result.mates, 1)} of ${result.mates}`,
  ]);
  const falsePositives = sum(results.map((result) => result.falsePositives));
  const strangers = sum(results.map((result) => result.strangers));
  return {
    title: "Identification",
    figures: [
      {
        name: "false positive identification rate (FPIR), galleries of 50 to 500 people",
        measured: formatPercent(falsePositives, strangers, 2),
        target: `≤ ${100 * MAX_FALSE_POSITIVE_RATE} %`,
        isMet: falsePositives / strangers <= MAX_FALSE_POSITIVE_RATE,
      },
    ],
    body: [
      `${DRAWS} random galleries of each size, of people of the verification set. The threshold is that of the service for the number of faces and a request with \`assume_adults\`; its curve was measured on other people. Strangers are people who are not in the gallery, with one photo each. The FPIR (false positive identification rate) is the share of strangers who match somebody. The FNIR (false negative identification rate) is the share of searches for an enrolled person, by another photo, that do not find this person first.`,
      formatTable(["people", "photos per person", "threshold", "FPIR", "FNIR"], rows),
    ].join("\n\n"),
  };
}
