import { TemplateIndex } from "../../src/search/template-index.ts";
import { formatMs, formatTable } from "../../tools/support/format.ts";
import { Progress } from "../../tools/support/progress.ts";
import { median } from "../../tools/support/statistics.ts";
import type { Chapter } from "../report.ts";
import { clusteredTemplates, randomTemplates } from "../templates.ts";

/** How long a search may take among a million templates, and in proportion among fewer. */
const MOST_MS_A_MILLION = 100;
const QUERIES = 20;
/** Photographs of each known person, the last of which is not in the index but looked for. */
const PHOTOGRAPHS = 11;
const PARTS = 10;

/** Templates to search, and vectors to look for. */
interface Templates {
  readonly index: TemplateIndex;
  /** The same as the index has, one after the other. */
  readonly rows: Float32Array;
  readonly strangers: readonly Float32Array[];
  readonly known: readonly Float32Array[];
}

/** One way to search, and the median of its times by who is looked for. */
export interface SearchTimes {
  readonly name: string;
  readonly isPlain: boolean;
  readonly strangerMs: number;
  readonly knownMs: number;
}

/** How long searches took among so many templates. */
export interface Searches {
  readonly count: number;
  readonly times: readonly SearchTimes[];
}

/**
 * Measures searches among so many templates: half of strangers seen once, half of people seen ten times. Throws
 * if the index does not find what a plain scan finds.
 */
export function measureSearches(count: number): Searches {
  const templates = makeTemplates(count);
  const { index, rows, strangers, known } = templates;
  for (const query of [...strangers, ...known])
    if (index.nearest(query)[0]?.id !== idOf(scan(rows, query)))
      throw new Error("the index did not find the nearest template");
  const time = (name: string, search: (query: Float32Array) => unknown, isPlain = false): SearchTimes => ({
    name,
    isPlain,
    strangerMs: medianMsOf(strangers, search),
    knownMs: medianMsOf(known, search),
  });
  return {
    count,
    times: [
      time("plain scan", (query) => scan(rows, query), true),
      time("the nearest", (query) => index.nearest(query)),
      time("the nearest ten within 0.5", (query) => index.nearest(query, { within: 0.5, k: 10 })),
    ],
  };
}

/** The longest of the medians, as a part of what is allowed. */
export function searchShareOf({ count, times }: Searches): number {
  return slowestMsOf(times.filter(({ isPlain }) => !isPlain)) / mostMsOf(count);
}

/** Tells how long searches take. */
export function searchChapter(searches: Searches): Chapter {
  const { count, times } = searches;
  const ofIndex = slowestMsOf(times.filter(({ isPlain }) => !isPlain));
  const ofScan = slowestMsOf(times.filter(({ isPlain }) => isPlain));
  return {
    title: "One face among many",
    figures: [
      {
        name: `search among ${count.toLocaleString("en")} templates on one core`,
        measured: `${formatMs(ofIndex)} (a plain scan ${formatMs(ofScan)})`,
        target: `≤ ${formatMs(mostMsOf(count))}`,
        isMet: searchShareOf(searches) <= 1,
      },
    ],
    body: `\`visage/search\` in one thread, among ${count.toLocaleString("en")} templates: half of strangers seen once, half of people seen ten times. Median of ${QUERIES} searches each for strangers and for known people by a photograph that is not in the index; each found what a plain scan finds. The plain scan looks at every number of every template. The key figure is the slowest search.

${formatTable(
  ["search", "for a stranger", "for a known person"],
  times.map(({ name, strangerMs, knownMs }) => [name, formatMs(strangerMs), formatMs(knownMs)]),
)}`,
  };
}

function mostMsOf(count: number): number {
  return (MOST_MS_A_MILLION * count) / 1e6;
}

function slowestMsOf(times: readonly SearchTimes[]): number {
  return Math.max(...times.flatMap(({ strangerMs, knownMs }) => [strangerMs, knownMs]));
}

function makeTemplates(count: number): Templates {
  const index = new TemplateIndex();
  const rows = new Float32Array(count * 128);
  const known: Float32Array[] = [];
  const progress = new Progress("templates", PARTS);
  const add = (vector: Float32Array) => {
    rows.set(vector, 128 * index.size);
    index.add(idOf(index.size), vector);
    if (index.size % (count / PARTS) === 0) progress.step();
  };
  for (const vector of randomTemplates(count / 2, 1)) add(vector);
  const people = count / 2 / (PHOTOGRAPHS - 1);
  let photograph = 0;
  for (const vector of clusteredTemplates(people, PHOTOGRAPHS, 2))
    if (++photograph % PHOTOGRAPHS > 0) add(vector);
    else if (known.length < QUERIES) known.push(vector);
  return { index, rows, known, strangers: [...randomTemplates(QUERIES, 3)] };
}

function idOf(row: number): string {
  return `template ${row}`;
}

function medianMsOf(queries: readonly Float32Array[], search: (query: Float32Array) => unknown): number {
  const times = queries.map((query) => {
    const start = performance.now();
    search(query);
    return performance.now() - start;
  });
  return median(times);
}

/** The nearest row, by looking at every number of every row. */
function scan(rows: Float32Array, query: Float32Array): number {
  let [nearest, least] = [-1, Number.POSITIVE_INFINITY];
  for (let start = 0; start < rows.length; start += 128) {
    let sum = 0;
    for (let i = 0; i < 128; i++) sum += (rows[start + i]! - query[i]!) ** 2;
    if (sum < least) [nearest, least] = [start / 128, sum];
  }
  return nearest;
}
