// Measures the WebAssembly kernels: `npm run bench:kernels`. With `-- --with DIR` it compares them with those of another
// checkout, in turns, so that both are measured under the same conditions.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import * as cropModule from "../src/core/crop/kernels.wasm.js";
import { TEMPLATE_BYTES } from "../src/search/assembly/constants.ts";
import * as searchModule from "../src/search/kernels.wasm.js";
import { formatTable } from "../tools/support/format.ts";
import { createRandom } from "../tools/support/random.ts";
import { median } from "../tools/support/statistics.ts";
import { randomTemplates } from "./templates.ts";

const HELP = `Usage: npm run bench:kernels [-- --with DIR]

  --with DIR    another checkout of Visage, built by "npm run build"
`;

const ROUNDS = 300;
/** Each measurement repeats a kernel for about this long. */
const MEASUREMENT_US = 1000;

const WIDTH = 1280;
const HEIGHT = 960;
const STRIDE = 3 * (WIDTH + 6);
const TEMPLATES = 10_000;
const MIB = 1024 * 1024;

// Addresses in the memory of the crop kernels.
const SCRATCH = 0;
const PLANES = 1 * MIB;
const IMAGE = 5 * MIB;
const HALF = 10 * MIB;
const FIRST_PIXEL = IMAGE + 3 * (STRIDE + 3);

type Run = () => void;

const { values } = parseArgs({ options: { with: { type: "string" }, help: { type: "boolean" } } });
if (values.help) {
  console.log(HELP);
  process.exit();
}

const own = createRuns(cropModule, searchModule);
const other = values.with === undefined ? undefined : await importRuns(resolve(values.with));
const rows = Object.entries(own).map(([name, run]) => {
  const times = measureInTurns(other ? [run, other[name]!] : [run]);
  const [ownTimes, otherTimes] = times.map((us) => [Math.min(...us), median(us)] as const);
  const cells = [name, ...ownTimes!.map(formatUs)];
  if (!otherTimes) return cells;
  const ratios = ownTimes!.map((us, i) => (us / otherTimes[i]!).toFixed(3));
  return [...cells, ...otherTimes.map(formatUs), ...ratios];
});
const columns = ["fastest", "median"];
const header = ["kernel", ...columns];
if (other)
  header.push(...columns.map((name) => `${name}, other`), ...columns.map((name) => `${name}, ratio`));
console.log(formatTable(header, rows));

async function importRuns(dir: string): Promise<Record<string, Run>> {
  const importFrom = (path: string) => import(pathToFileURL(resolve(dir, "dist", path)).href);
  return createRuns(
    (await importFrom("src/core/crop/kernels.wasm.js")) as typeof cropModule,
    (await importFrom("src/search/kernels.wasm.js")) as typeof searchModule,
  );
}

/** Typical calls of each kernel. */
function createRuns(crop: typeof cropModule, search: typeof searchModule): Record<string, Run> {
  const { memory, sample, halve } = crop.instantiate(16 * MIB);
  const random = createRandom(1);
  const image = new Uint8Array(memory.buffer, IMAGE, STRIDE * (HEIGHT + 6));
  for (let i = 0; i < image.length; i++) image[i] = 256 * random();
  const source = [FIRST_PIXEL, STRIDE, WIDTH, HEIGHT, 300, 200] as const;
  const target = (side: number) => [SCRATCH, PLANES, side, side] as const;
  return {
    "sample, 112 pixels": () => sample(...source, 1.57, 0.32, 0.8, ...target(112)),
    "sample, 192 pixels": () => sample(...source, 0.98, 0.2, 0, ...target(192)),
    "sample, 320 pixels, not rotated": () => sample(...source, 1.9, 0, 0.95, ...target(320)),
    [`halve, ${WIDTH}x${HEIGHT} pixels`]: () =>
      halve(FIRST_PIXEL, STRIDE, HALF, 3 * (WIDTH / 2 + 6), WIDTH / 2, HEIGHT / 2),
    ...createSearchRuns(search),
  };
}

function createSearchRuns(search: typeof searchModule): Record<string, Run> {
  const start = TEMPLATE_BYTES;
  const end = start + TEMPLATES * TEMPLATE_BYTES;
  const { memory, findCandidates } = search.instantiate(end + 4 * TEMPLATES);
  const numbers = new Float32Array(memory.buffer);
  let at = 0;
  // The first one is the query.
  for (const template of randomTemplates(1 + TEMPLATES, 1)) {
    numbers.set(template, at);
    at += template.length;
  }
  const name = `findCandidates, ${TEMPLATES.toLocaleString("en")} templates`;
  return {
    [`${name}, within 0.3`]: () => findCandidates(0, start, end, 0.3 ** 2, end),
    [`${name}, within 0.6`]: () => findCandidates(0, start, end, 0.6 ** 2, end),
  };
}

/** Microseconds of each run, in each round. */
function measureInTurns(runs: readonly Run[]): number[][] {
  const calls = Math.ceil(
    MEASUREMENT_US / Math.min(...Array.from({ length: 20 }, () => measure(runs[0]!, 1))),
  );
  for (const run of runs) measure(run, 20 * calls);
  const times = runs.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    // The order alternates, so that a machine that slows down favours neither.
    const order = [...runs.keys()];
    if (round % 2 === 1) order.reverse();
    for (const i of order) times[i]!.push(measure(runs[i]!, calls));
  }
  return times;
}

function measure(run: Run, calls: number): number {
  const start = performance.now();
  for (let i = 0; i < calls; i++) run();
  return (1000 * (performance.now() - start)) / calls;
}

function formatUs(us: number): string {
  return `${us.toFixed(1)} µs`;
}
