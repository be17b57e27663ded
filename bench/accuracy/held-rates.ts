import { distanceOf, FalseMatchRates, type Population } from "../../src/core/index.ts";
import { type GalleryThreshold, thresholdForSize } from "../../src/galleries/gallery-threshold.ts";
import { splitOfFile } from "../../tools/support/datasets.ts";
import { formatTable } from "../../tools/support/format.ts";
import { createRandom } from "../../tools/support/random.ts";
import { sum } from "../../tools/support/statistics.ts";
import type { Chapter } from "../report.ts";
import { calibrate, type MeasuredImpostor, type Member } from "./populations.ts";

/** The declared and the observed errors of one group of people. */
export interface HeldRates {
  readonly group: string;
  readonly pairs: number;
  /** For each of RATES. */
  readonly matches: readonly Expected[];
  readonly identification: Identification;
}

/** How many errors the service declares, and how many there are. */
interface Expected {
  readonly declared: number;
  readonly observed: number;
}

/** The searches for strangers. */
interface Identification extends Expected {
  readonly searches: number;
  /** Searches that only give candidates. */
  readonly candidates: number;
  /** The two people of each false positive. */
  readonly pairs: ReadonlySet<string>;
}

/** The rates that are asked for. */
const RATES = [1e-2, 3e-3, 1e-3, 3e-4];

/** Random galleries of this many people, from each half and group. */
const GALLERY_SIZE = 40;
const DRAWS = 20;
const SEED = 1;

const GROUPS: Readonly<Record<string, Member>> = {
  "0 to 9 years": ({ age }) => age < 10,
  "10 to 19": ({ age }) => age >= 10 && age < 20,
  "20 to 59": ({ age }) => age >= 20 && age < 60,
  "60 and older": ({ age }) => age >= 60,
  "women, 20 and older": ({ age, gender }) => age >= 20 && gender === "female",
  "men, 20 and older": ({ age, gender }) => age >= 20 && gender === "male",
};

/**
 * Asks for rates and counts the errors, by the populations that the service estimates. The rates of one half of the
 * portraits are applied to the other half, in both directions.
 */
export function measureHeldRates(impostors: readonly MeasuredImpostor[]): HeldRates[] {
  const halves = (["fit", "heldOut"] as const).map((split) =>
    impostors.filter(({ file }) => splitOfFile(file) === split),
  );
  const tested = halves.map((half, i) => ({
    rates: new FalseMatchRates(calibrate("", halves[1 - i]!)),
    portraits: half,
  }));
  return Object.entries(GROUPS).map(([group, isMember]) => {
    const parts = tested.map(({ rates, portraits }) => {
      const members = portraits.filter(isMember);
      return { ...comparePairs(members, rates), identification: searchGalleries(members, rates) };
    });
    const add = (all: readonly Expected[]): Expected => ({
      declared: sum(all.map(({ declared }) => declared)),
      observed: sum(all.map(({ observed }) => observed)),
    });
    const searches = parts.map(({ identification }) => identification);
    return {
      group,
      pairs: sum(parts.map(({ pairs }) => pairs)),
      matches: RATES.map((_, i) => add(parts.map(({ matches }) => matches[i]!))),
      identification: {
        ...add(searches),
        searches: sum(searches.map((one) => one.searches)),
        candidates: sum(searches.map((one) => one.candidates)),
        pairs: new Set(searches.flatMap(({ pairs }) => [...pairs])),
      },
    };
  });
}

/** Compares every two people, each time with the threshold for the rate. Pairs without such a threshold do not count. */
function comparePairs(members: readonly MeasuredImpostor[], rates: FalseMatchRates) {
  const matches = RATES.map(() => ({ declared: 0, observed: 0 }));
  const thresholdsOf = memoize((populations: readonly Population[]) =>
    RATES.map((rate) => rates.thresholdFor(rate, populations)),
  );
  let pairs = 0;
  for (const [i, one] of members.entries())
    for (const other of members.slice(i + 1)) {
      pairs++;
      const distance = distanceOf(one.embedding, other.embedding);
      for (const [k, threshold] of thresholdsOf([...one.populations, ...other.populations]).entries()) {
        if (!threshold) continue;
        matches[k]!.declared += RATES[k]!;
        if (distance < threshold.distance) matches[k]!.observed++;
      }
    }
  return { pairs, matches };
}

/** Searches random galleries for people who are not in them. */
function searchGalleries(members: readonly MeasuredImpostor[], rates: FalseMatchRates): Identification {
  const random = createRandom(SEED);
  const thresholdOf = memoize(
    (populations: readonly Population[]): GalleryThreshold =>
      thresholdForSize(GALLERY_SIZE, rates, populations),
  );
  const result = { declared: 0, observed: 0, searches: 0, candidates: 0, pairs: new Set<string>() };
  for (let draw = 0; draw < DRAWS; draw++) {
    const shuffled = members
      .map((member) => ({ member, order: random() }))
      .toSorted((one, other) => one.order - other.order)
      .map(({ member }) => member);
    for (const stranger of shuffled.slice(GALLERY_SIZE)) {
      const { distance, falsePositiveRate, candidatesReason } = thresholdOf(stranger.populations);
      result.searches++;
      if (candidatesReason) result.candidates++;
      else {
        result.declared += falsePositiveRate!;
        const near = shuffled
          .slice(0, GALLERY_SIZE)
          .filter((other) => distanceOf(stranger.embedding, other.embedding) < distance);
        if (near.length > 0) result.observed++;
        for (const { file } of near) result.pairs.add([file, stranger.file].sort().join());
      }
    }
  }
  return result;
}

function memoize<T>(compute: (populations: readonly Population[]) => T): (key: readonly Population[]) => T {
  const known = new Map<string, T>();
  return (populations) => {
    const key = populations.join();
    const value = known.get(key) ?? compute(populations);
    known.set(key, value);
    return value;
  };
}

/** The share of declared errors that may be observed. */
const MAX_RATIO = 2;
/** Fewer declared errors than this say nothing. */
const MIN_ERRORS = 5;

/** Reports whether the rates hold that a caller asks for. */
export function heldRatesChapter(held: readonly HeldRates[]): Chapter {
  const ratios = held
    .flatMap(({ matches }) => matches)
    .filter(({ declared }) => declared >= MIN_ERRORS)
    .map(({ declared, observed }) => observed / declared);
  const worst = Math.max(...ratios);
  return {
    title: "Rates that a caller asks for",
    figures: [
      {
        name: "observed / declared false matches, worst group and rate",
        measured: worst.toFixed(2),
        target: `≤ ${MAX_RATIO}`,
        isMet: worst <= MAX_RATIO,
      },
    ],
    body: [
      "False matches among pairs of different people of one group, if a caller asks for a rate (`max_false_match_rate`). The threshold is that of the populations that the service estimates from the photos. The curves of one half of the portraits are applied to the other half, in both directions, so nobody is compared by a curve to which they contributed. Each cell has the observed false matches / the declared number. Pairs for which no threshold holds the rate are left out: they give candidates.",
      formatTable(
        ["group", "pairs", ...RATES.map((rate) => rate.toExponential(0))],
        held.map(({ group, pairs, matches }) => [
          group,
          pairs,
          ...matches.map(({ declared, observed }) => formatRatio({ declared, observed })),
        ]),
      ),
      `Strangers who match somebody in galleries of ${GALLERY_SIZE} people of their group, at the threshold of the service, in ${DRAWS} random galleries of each half. The same pair of people meets in many galleries, so the last column counts the different pairs behind the false positives; a handful of them is too few for a ratio.`,
      formatTable(
        ["group", "searches", "candidates only", "false positives / declared", "pairs of people"],
        held.map(({ group, identification }) => [
          group,
          identification.searches,
          `${Math.round((100 * identification.candidates) / identification.searches)} %`,
          formatRatio(identification),
          identification.pairs.size,
        ]),
      ),
    ].join("\n\n"),
  };
}

function formatRatio({ declared, observed }: Expected): string {
  if (declared === 0) return "candidates";
  const ratio = declared < MIN_ERRORS ? "" : ` = ${(observed / declared).toFixed(2)}`;
  return `${observed} / ${declared.toPrecision(2)}${ratio}`;
}
