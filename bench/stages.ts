// Measures the CPU time of the core's stages: `npm run bench:stages`.
// Prints the tables and writes them to bench/results/stages.md.
import { loadavg } from "node:os";
import { createAnalyzer } from "../src/core/analyzer.ts";
import { type Analyzer, DEFAULT_MODELS_DIR, type Stage } from "../src/core/index.ts";
import {
  type Network,
  type NetworkName,
  type Networks,
  openNetworks,
  type TensorWriter,
} from "../src/core/networks.ts";
import { formatPercent, formatTable } from "../tools/support/format.ts";
import { mapWithProgress } from "../tools/support/progress.ts";
import { describeRun } from "./machine.ts";
import { writeReport } from "./report.ts";
import { createStagePhotos, type StagePhoto } from "./stages/photos.ts";

const WARM_UP_CALLS = 3;
const CALLS = 15;
const NETWORKS = ["detect", "mesh", "attributes", "embed"] as const satisfies readonly NetworkName[];

/** CPU time of one call in milliseconds: in total, for decoding, and for each network without sampling its crops. */
interface Times extends Record<NetworkName, number> {
  readonly total: number;
  readonly decode: number;
}

type Operation = (
  analyzer: Analyzer,
  photo: StagePhoto,
  onStage: (stage: Stage, milliseconds: number) => void,
) => Promise<unknown>;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  get_face_vec: ({ embed }, { bytes }, onStage) => embed(bytes, { onStage }),
  "get_face_vec with a box": ({ embed }, { bytes, box }, onStage) => embed(bytes, { boxes: [box], onStage }),
  "face of CompareFaces": ({ embed }, { bytes }, onStage) => embed(bytes, { populations: true, onStage }),
  get_image_attr: ({ analyze }, { bytes }, onStage) => analyze(bytes, { onStage }),
};

const networkMs: Record<NetworkName, number> = { detect: 0, mesh: 0, attributes: 0, embed: 0 };
const networks = await openNetworks(DEFAULT_MODELS_DIR);
const analyzer = createAnalyzer(withTimers(networks));
const photos = await createStagePhotos();
const cases = Object.entries(OPERATIONS).flatMap(([name, operation]) =>
  photos.map((photo) => ({ name, operation, photo })),
);
const measured = await mapWithProgress("stages", cases, async ({ name, operation, photo }) => ({
  name,
  photo,
  found: (await analyzer.analyze(photo.bytes)).faces.length,
  times: await measure(operation, photo),
}));

const header = ["operation", "photo", "faces found", "total", "decode", ...NETWORKS, "outside networks"];
const stages = formatTable(
  header,
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
const paragraphs = [
  "# CPU time by stage",
  `Written by \`npm run bench:stages\`. ${describeRun()} Load average: ${loadavg()[0]!.toFixed(1)}.`,
  `CPU time in milliseconds. Each row is the median call of ${CALLS}: in total, for decoding, and for each network without sampling its crops. [steps.md](steps.md) lists the optimisations that led here.`,
  stages,
  "## Cost of a face and of a pixel",
  formatTable(["", "ms"], marginalCosts()),
];
writeReport("stages.md", paragraphs);
console.log(paragraphs.join("\n\n"));
await analyzer.close();

/** Wraps networks so that the CPU time of each run is added to `networkMs`. */
function withTimers(plain: Networks): Networks {
  const withTimer = (name: NetworkName): Network => ({
    async run(inputs) {
      const start = cpuMs();
      const rows = await plain[name].run(inputs.map((input) => excludeFromTimer(name, input)));
      networkMs[name] += cpuMs() - start;
      return rows;
    },
  });
  return {
    ...plain,
    detect: withTimer("detect"),
    mesh: withTimer("mesh"),
    embed: withTimer("embed"),
    attributes: withTimer("attributes"),
  };
}

/** Wraps a writer so that sampling its crops does not count for the network. */
function excludeFromTimer(name: NetworkName, writer: TensorWriter): TensorWriter {
  return {
    ...writer,
    write(tensor) {
      const start = cpuMs();
      writer.write(tensor);
      networkMs[name] -= cpuMs() - start;
    },
  };
}

async function measure(operation: Operation, photo: StagePhoto): Promise<Times> {
  const calls: Times[] = [];
  for (let i = 0; i < WARM_UP_CALLS + CALLS; i++) {
    for (const name of NETWORKS) networkMs[name] = 0;
    const start = cpuMs();
    let decode = 0;
    // A crowd is decoded once for each part. Decoding is not interrupted, so its time is CPU time.
    await operation(analyzer, photo, (stage, milliseconds) => {
      if (stage === "decode") decode += milliseconds;
    });
    const total = cpuMs() - start;
    if (i >= WARM_UP_CALLS) calls.push({ total, decode, ...networkMs });
  }
  // The median call, not the median of each column, so that the parts of a row add up.
  return calls.toSorted((one, other) => one.total - other.total)[CALLS >> 1]!;
}

/** CPU time of all threads of this process so far. Unlike wall-clock time, it is comparable on a busy machine. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The cost of each additional face and megapixel, from the difference between large and small photos. */
function marginalCosts(): [string, string][] {
  const row = (operation: string, faces: number, width: number) =>
    measured.find(({ name, photo }) => name === operation && photo.faces === faces && photo.width === width)!;
  const [few, many] = [row("get_image_attr", 5, 1920), row("get_image_attr", 22, 1920)];
  const [small, large] = [row("get_face_vec", 1, 640), row("get_face_vec", 1, 1920)];
  const megapixels = ({ photo: { width, height } }: typeof small) => (width * height) / 1e6;
  return [
    [
      "each additional face, get_image_attr at 1920x1280",
      ((many.times.total - few.times.total) / (many.found - few.found)).toFixed(1),
    ],
    [
      "each additional megapixel, get_face_vec with one face",
      ((large.times.total - small.times.total) / (megapixels(large) - megapixels(small))).toFixed(1),
    ],
  ];
}
