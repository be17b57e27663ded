import { TemplateIndex } from "../src/search/template-index.ts";
import { clusteredTemplates, randomTemplates } from "./templates.ts";

const COUNT = 1_000_000;
const QUERIES = 20;

/** Photographs of each known person, the last of which is not in the index but looked for. */
const PHOTOGRAPHS = 11;

/** Measures searches among a million templates: half of strangers seen once, half of people seen ten times. */
function main(): void {
  const index = new TemplateIndex();
  const all = new Float32Array(COUNT * 128);
  const known: Float32Array[] = [];
  const add = (vector: Float32Array) => {
    all.set(vector, 128 * index.size);
    index.add(`template ${index.size}`, vector);
  };
  for (const vector of randomTemplates(COUNT / 2, 1)) add(vector);
  const people = COUNT / 2 / (PHOTOGRAPHS - 1);
  let photograph = 0;
  for (const vector of clusteredTemplates(people, PHOTOGRAPHS, 2))
    if (++photograph % PHOTOGRAPHS > 0) add(vector);
    else if (known.length < QUERIES) known.push(vector);

  const strangers = [...randomTemplates(QUERIES, 3)];
  console.log(`${COUNT.toLocaleString("en")} templates, median of ${QUERIES} searches in ms:`);
  for (const [who, queries] of Object.entries({ "a stranger": strangers, "a known person": known })) {
    console.log(`  ${who}`);
    report("plain scan", queries, (query) => scan(all, query));
    report("nearest, k = 1", queries, (query) => index.nearest(query));
    report("nearest, within 0.5, k = 10", queries, (query) => index.nearest(query, { within: 0.5, k: 10 }));
  }
}

function report(
  name: string,
  queries: readonly Float32Array[],
  search: (query: Float32Array) => unknown,
): void {
  const times = queries.map((query) => {
    const [wall, cpu] = [performance.now(), process.cpuUsage()];
    search(query);
    const { user, system } = process.cpuUsage(cpu);
    return { wall: performance.now() - wall, cpu: (user + system) / 1000 };
  });
  const median = (what: "wall" | "cpu") =>
    times
      .map((time) => time[what])
      .toSorted((one, other) => one - other)
      [times.length >> 1]!.toFixed(0);
  console.log(`    ${name.padEnd(28)} ${median("wall").padStart(5)} (${median("cpu")} of CPU)`);
}

/** The nearest row, by looking at every number of every row. */
function scan(all: Float32Array, query: Float32Array): number {
  let [nearest, least] = [-1, Number.POSITIVE_INFINITY];
  for (let start = 0; start < all.length; start += 128) {
    let sum = 0;
    for (let i = 0; i < 128; i++) sum += (all[start + i]! - query[i]!) ** 2;
    if (sum < least) [nearest, least] = [start / 128, sum];
  }
  return nearest;
}

main();
