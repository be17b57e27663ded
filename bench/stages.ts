// Measures where the core's time goes: `npm run bench:stages`.
// Prints the tables and writes them to bench/results/stages.md.

import { mkdirSync, writeFileSync } from "node:fs";
import { arch, availableParallelism, cpus, loadavg } from "node:os";
import { join } from "node:path";
import { createAnalyzer } from "../src/core/analyzer.ts";
import type { Analyzer, Stage } from "../src/core/index.ts";
import {
  type Drawing,
  type Network,
  type NetworkName,
  type Networks,
  openNetworks,
} from "../src/core/networks.ts";
import { PACKAGE_ROOT } from "../src/model-manifest.ts";
import { prepareModels } from "../tools/models/prepare.ts";
import { formatPercent, formatTable } from "../tools/support/format.ts";
import { mapWithProgress } from "../tools/support/progress.ts";
import { type BenchPhoto, makePhotos } from "./photos.ts";

const WARM_UPS = 3;
const REPEATS = 15;
const NETWORKS = ["detect", "mesh", "attributes", "embed"] as const satisfies readonly NetworkName[];

/** Milliseconds of a processor in one call: all of it, what decoding took, and each network without its crops. */
interface Times extends Record<NetworkName, number> {
  readonly total: number;
  readonly decode: number;
}

type Operation = (analyzer: Analyzer, photo: BenchPhoto, onStage: (stage: Stage) => void) => Promise<unknown>;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  get_face_vec: ({ embed }, { bytes }, onStage) => embed(bytes, { onStage }),
  "get_face_vec with a box": ({ embed }, { bytes, box }, onStage) => embed(bytes, { boxes: [box], onStage }),
  get_image_attr: ({ analyze }, { bytes }, onStage) => analyze(bytes, { onStage }),
};

const networkMs: Record<NetworkName, number> = { detect: 0, mesh: 0, attributes: 0, embed: 0 };
const networks = await openNetworks(await prepareModels());
const analyzer = createAnalyzer(timed(networks));
const photos = await makePhotos();
const cases = Object.entries(OPERATIONS).flatMap(([name, operation]) =>
  photos.map((photo) => ({ name, operation, photo })),
);
const measured = await mapWithProgress("stages", cases, async ({ name, operation, photo }) => ({
  name,
  photo,
  found: (await analyzer.analyze(photo.bytes)).faces.length,
  times: await measure(operation, photo),
}));

const head = ["operation", "photo", "faces found", "ms", "decode", ...NETWORKS, "outside networks"];
const stages = formatTable(
  head,
  measured.map(({ name, photo: { width, height }, found, times }) => [
    name,
    `${width}x${height}`,
    found,
    times.total.toFixed(1),
    times.decode.toFixed(1),
    ...NETWORKS.map((name) => (times[name] > 0 ? times[name].toFixed(1) : "")),
    formatPercent(
      NETWORKS.reduce((rest, name) => rest - times[name], times.total),
      times.total,
      0,
    ),
  ]),
);
const report = [
  "# Where the time goes",
  `Written by \`npm run bench:stages\` on ${machine()}; milliseconds of one core, each row the middle one of ${REPEATS} calls: all, decoding, and each network without the making of its crops. What each step towards this gave is in [steps.md](steps.md).`,
  stages,
  "## What a face and a pixel cost",
  formatTable(["", "ms"], costs()),
].join("\n\n");
mkdirSync(join(PACKAGE_ROOT, "bench/results"), { recursive: true });
writeFileSync(join(PACKAGE_ROOT, "bench/results/stages.md"), `${report}\n`);
console.log(report);
await analyzer.close();

/** The same networks, with the time of each run added up. */
function timed(plain: Networks): Networks {
  const watched = (name: NetworkName): Network => ({
    async run(drawings) {
      const start = cpuMs();
      const rows = await plain[name].run(drawings.map((drawing) => notCounted(name, drawing)));
      networkMs[name] += cpuMs() - start;
      return rows;
    },
  });
  return {
    ...plain,
    detect: watched("detect"),
    mesh: watched("mesh"),
    embed: watched("embed"),
    attributes: watched("attributes"),
  };
}

/** The same images, whose making is no part of a network's time. */
function notCounted(name: NetworkName, { images, draw }: Drawing): Drawing {
  return {
    images,
    draw(planes) {
      const start = cpuMs();
      draw(planes);
      networkMs[name] -= cpuMs() - start;
    },
  };
}

async function measure(operation: Operation, photo: BenchPhoto): Promise<Times> {
  const calls: Times[] = [];
  for (let i = 0; i < WARM_UPS + REPEATS; i++) {
    for (const name of NETWORKS) networkMs[name] = 0;
    const start = cpuMs();
    let decode = 0;
    await operation(analyzer, photo, (stage) => {
      if (stage === "decode") decode = cpuMs() - start;
    });
    const total = cpuMs() - start;
    if (i >= WARM_UPS) calls.push({ total, decode, ...networkMs });
  }
  // The call in the middle, not the middle of each column: the parts of a row then add up.
  return calls.toSorted((one, other) => one.total - other.total)[REPEATS >> 1]!;
}

/** What this process has used of processors so far, in all its threads: other than the clock, fair on a busy machine. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function machine(): string {
  const [{ model } = { model: "an unknown processor" }] = cpus();
  const [load = 0] = loadavg();
  return `${model} (${arch()}, ${availableParallelism()} cores, load ${load.toFixed(1)}), Node ${process.versions.node}`;
}

/** What grows with the faces and with the pixels of a photo, by comparing the largest rows with smaller ones. */
function costs(): [string, string][] {
  const row = (operation: string, faces: number, width: number) =>
    measured.find(({ name, photo }) => name === operation && photo.faces === faces && photo.width === width)!;
  const [few, many] = [row("get_image_attr", 5, 1920), row("get_image_attr", 22, 1920)];
  const [small, large] = [row("get_face_vec", 1, 640), row("get_face_vec", 1, 1920)];
  const megapixels = ({ photo: { width, height } }: typeof small) => (width * height) / 1e6;
  return [
    [
      "each further face of get_image_attr (1920x1280)",
      ((many.times.total - few.times.total) / (many.found - few.found)).toFixed(1),
    ],
    [
      "each further megapixel of get_face_vec (one face)",
      ((large.times.total - small.times.total) / (megapixels(large) - megapixels(small))).toFixed(1),
    ],
  ];
}
