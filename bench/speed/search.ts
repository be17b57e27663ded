import { TemplateIndex } from "../../src/search/template-index.ts";
import { formatMs, formatTable } from "../../tools/support/format.ts";
import { Progress } from "../../tools/support/progress.ts";
import { median } from "../../tools/support/statistics.ts";
import type { Chapter } from "../report.ts";
import { clusteredTemplates, randomTemplates } from "../templates.ts";

/** The longest a search may take per million templates. */
const MAX_MS_PER_MILLION = 100;
const DIMENSIONS = 128;
const QUERIES = 20;
/** Templates of each enrolled person. The last one is not in the index; it is the query. */
const TEMPLATES_PER_PERSON = 11;
const PROGRESS_STEPS = 10;

/** The index to search, and the queries. */
interface Gallery {
  readonly index: TemplateIndex;
  /** The templates of the index, concatenated. */
  readonly rows: Float32Array;
  /** Queries of people with no template in the index. */
  readonly unknown: readonly Float32Array[];
  /** Queries of people with ten templates in the index. */
  readonly enrolled: readonly Float32Array[];
}

/** One kind of search and its median durations. */
export interface SearchTimes {
  readonly name: string;
  readonly isLinearScan: boolean;
  readonly unknownMs: number;
  readonly enrolledMs: number;
}

export interface Searches {
  /** The number of templates in the index. */
  readonly count: number;
  readonly times: readonly SearchTimes[];
}

/**
 * Measures searches in an index of the given size. Half of the templates belong to people with one template, half to
 * people with ten. Throws if the index finds another nearest template than a linear scan.
 */
export function measureSearches(count: number): Searches {
  const { index, rows, unknown, enrolled } = createGallery(count);
  for (const query of [...unknown, ...enrolled])
    if (index.nearest(query)[0]?.id !== idOf(nearestRow(rows, query)))
      throw new Error("The index did not find the nearest template.");
  const time = (
    name: string,
    search: (query: Float32Array) => unknown,
    isLinearScan = false,
  ): SearchTimes => ({
    name,
    isLinearScan,
    unknownMs: medianMs(unknown, search),
    enrolledMs: medianMs(enrolled, search),
  });
  return {
    count,
    times: [
      time("linear scan", (query) => nearestRow(rows, query), true),
      time("nearest", (query) => index.nearest(query)),
      time("10 nearest within 0.5", (query) => index.nearest(query, { within: 0.5, k: 10 })),
    ],
  };
}

/** The slowest search of the index, relative to its target. */
export function searchTimeToTarget({ count, times }: Searches): number {
  return slowestMs(times.filter(({ isLinearScan }) => !isLinearScan)) / targetMs(count);
}

/** Reports the duration of searches. */
export function searchChapter(searches: Searches): Chapter {
  const { count, times } = searches;
  const indexMs = slowestMs(times.filter(({ isLinearScan }) => !isLinearScan));
  const scanMs = slowestMs(times.filter(({ isLinearScan }) => isLinearScan));
  return {
    title: "Template search",
    figures: [
      {
        name: `search in ${count.toLocaleString("en")} templates, one thread`,
        measured: `${formatMs(indexMs)} (linear scan: ${formatMs(scanMs)})`,
        target: `≤ ${formatMs(targetMs(count))}`,
        isMet: searchTimeToTarget(searches) <= 1,
      },
    ],
    body: `\`@visage/client/search\` in one thread, in an index of ${count.toLocaleString("en")} synthetic templates: half belong to people with one template, half to people with ten. Medians of ${QUERIES} queries for people who are not in the index, and of ${QUERIES} queries for enrolled people with a template that is not in the index. Each query found the same nearest template as a linear scan over all templates. The key figure is the slowest search.

${formatTable(
  ["search", "unknown person", "enrolled person"],
  times.map(({ name, unknownMs, enrolledMs }) => [name, formatMs(unknownMs), formatMs(enrolledMs)]),
)}`,
  };
}

function targetMs(count: number): number {
  return (MAX_MS_PER_MILLION * count) / 1e6;
}

function slowestMs(times: readonly SearchTimes[]): number {
  return Math.max(...times.flatMap(({ unknownMs, enrolledMs }) => [unknownMs, enrolledMs]));
}

function createGallery(count: number): Gallery {
  const index = new TemplateIndex();
  const rows = new Float32Array(count * DIMENSIONS);
  const enrolled: Float32Array[] = [];
  const progress = new Progress("templates", PROGRESS_STEPS);
  const add = (vector: Float32Array) => {
    rows.set(vector, DIMENSIONS * index.size);
    index.add(idOf(index.size), vector);
    if (index.size % (count / PROGRESS_STEPS) === 0) progress.step();
  };
  for (const vector of randomTemplates(count / 2, 1)) add(vector);
  const people = count / 2 / (TEMPLATES_PER_PERSON - 1);
  let number = 0;
  for (const vector of clusteredTemplates(people, TEMPLATES_PER_PERSON, 2))
    if (++number % TEMPLATES_PER_PERSON > 0) add(vector);
    else if (enrolled.length < QUERIES) enrolled.push(vector);
  return { index, rows, enrolled, unknown: [...randomTemplates(QUERIES, 3)] };
}

function idOf(row: number): string {
  return `template ${row}`;
}

function medianMs(queries: readonly Float32Array[], search: (query: Float32Array) => unknown): number {
  const times = queries.map((query) => {
    const start = performance.now();
    search(query);
    return performance.now() - start;
  });
  return median(times);
}

/** The index of the row nearest to the query, by a linear scan. */
export function nearestRow(rows: Float32Array, query: Float32Array): number {
  let [nearest, minSquare] = [-1, Number.POSITIVE_INFINITY];
  for (let start = 0; start < rows.length; start += DIMENSIONS) {
    let square = 0;
    for (let i = 0; i < DIMENSIONS; i++) square += (rows[start + i]! - query[i]!) ** 2;
    if (square < minSquare) [nearest, minSquare] = [start / DIMENSIONS, square];
  }
  return nearest;
}
