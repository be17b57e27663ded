import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { DEFAULT_MODELS_DIR, openAnalyzer } from "../../src/core/index.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { fetchFiles } from "../../tools/models/fetch.ts";
import { createNode, floatValue, intTensor, readOnnx, writeOnnx } from "../../tools/models/onnx.ts";
import { SOURCES } from "../../tools/models/sources.ts";
import { formatMs, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { median } from "../../tools/support/statistics.ts";
import type { Photos } from "../load/photos.ts";
import type { Chapter } from "../report.ts";
import { formatRatio, type Pair, ratioOfMeans } from "./ratio.ts";

/** The peer's files: a program, its requirements and, once it was measured, its environment and networks. */
const FOLDER = join(PACKAGE_ROOT, "bench/peer");
const ENVIRONMENT = join(FOLDER, ".venv");
const NETWORKS = join(FOLDER, "node_modules/.cache");

const WARM_UP_ROUNDS = 5;
const ROUNDS = 60;
const MAX_RATIO = 0.65;

/** CPU time of one vector in milliseconds, core and OpenCV, in each round. */
export type OpencvRounds = readonly Pair[];

/** Measures the core and OpenCV on one photo, call by call in turns. Returns undefined if there is no Python. */
export async function measureOpencv(photos: Photos): Promise<OpencvRounds | undefined> {
  if (!(await installOpencv())) return undefined;
  const photo = photos.oneFace("640x480");
  const python = spawn(join(ENVIRONMENT, "bin/python"), [
    join(FOLDER, "opencv.py"),
    ...(await writeNetworks()),
    photo,
  ]);
  const lines = createInterface(python.stdout)[Symbol.asyncIterator]();
  const analyzer = await openAnalyzer({ modelsDir: DEFAULT_MODELS_DIR });
  const bytes = readFileSync(photo);
  const measureCore = async () => {
    const start = process.cpuUsage();
    await analyzer.embed(bytes);
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  };
  const measurePeer = async () => {
    python.stdin.write("\n");
    const { value, done } = await lines.next();
    if (done) throw new Error("The program with OpenCV ended.");
    return Number(value);
  };
  try {
    const turns = Array.from({ length: WARM_UP_ROUNDS + ROUNDS });
    const rounds = await mapWithProgress(
      "OpenCV",
      turns,
      async (): Promise<Pair> => [await measureCore(), await measurePeer()],
    );
    return rounds.slice(WARM_UP_ROUNDS);
  } finally {
    python.stdin.end();
    await analyzer.close();
  }
}

/** Installs OpenCV into an environment of its own. Returns false if this machine cannot. */
async function installOpencv(): Promise<boolean> {
  if (existsSync(join(ENVIRONMENT, "installed"))) return true;
  const run = promisify(execFile);
  try {
    await run("python3", ["-m", "venv", ENVIRONMENT]);
    process.stderr.write("Installing OpenCV\n");
    await run(join(ENVIRONMENT, "bin/pip"), ["install", "-q", "-r", join(FOLDER, "requirements.txt")]);
    writeFileSync(join(ENVIRONMENT, "installed"), "");
    return true;
  } catch (error) {
    process.stderr.write(`OpenCV is not measured: ${(error as Error).message}\n`);
    return false;
  }
}

/** Writes the same weights in the form that OpenCV reads: the published SFace, and YuNet with the zoo's outputs. */
async function writeNetworks(): Promise<[detector: string, recognizer: string]> {
  mkdirSync(NETWORKS, { recursive: true });
  const files = ["yunet.onnx", "sface.onnx"].map((name) => join(NETWORKS, name)) as [string, string];
  const [recognizer] = await fetchFiles(SOURCES.embed!);
  writeFileSync(files[0], zooDetector(readFileSync(join(DEFAULT_MODELS_DIR, "detect.onnx"))));
  writeFileSync(files[1], recognizer!);
  return files;
}

/** The planes of the detector's feature maps by the name of the zoo's output. */
const ZOO_OUTPUTS = { cls: [0, 1], obj: [1, 2], bbox: [2, 6], kps: [6, 16] } as const;

/** Replaces the outputs of our detector by those of the OpenCV model zoo: one row for each cell. */
function zooDetector(bytes: Uint8Array): Uint8Array {
  const graph = readOnnx(bytes);
  graph.initializer.push(intTensor("channels", [1]));
  graph.output = [];
  for (const stride of [8, 16, 32])
    for (const [name, [from, to]] of Object.entries(ZOO_OUTPUTS)) {
      const output = `${name}_${stride}`;
      const isScore = to - from === 1;
      graph.initializer.push(
        intTensor(`${output}/from`, [from]),
        intTensor(`${output}/to`, [to]),
        intTensor(`${output}/shape`, [1, -1, to - from]),
      );
      graph.node.push(
        createNode(
          "Slice",
          [`stride${stride}`, `${output}/from`, `${output}/to`, "channels"],
          `${output}/planes`,
        ),
        createNode("Transpose", [`${output}/planes`], `${output}/cells`, { perm: [0, 2, 3, 1] }),
        createNode("Reshape", [`${output}/cells`, `${output}/shape`], isScore ? `${output}/rows` : output),
        ...(isScore ? [createNode("Sigmoid", [`${output}/rows`], output)] : []),
      );
      graph.output.push(floatValue(output, [1, "cells", to - from]));
    }
  return writeOnnx(graph);
}

/** Reports the time of a vector in the core in relation to OpenCV. */
export function opencvChapter(rounds: OpencvRounds | undefined): Chapter {
  const title = "Comparison with OpenCV";
  if (!rounds) return { title, figures: [], body: "Not measured: there was no Python 3 with venv and pip." };
  const ratio = ratioOfMeans(rounds);
  const row = (name: string, index: 0 | 1) => {
    const times = rounds.map((round) => round[index]);
    return [name, formatMs(median(times)), formatMs(Math.min(...times))];
  };
  return {
    title,
    figures: [
      {
        name: "time of a vector, core / OpenCV",
        measured: formatRatio(ratio),
        target: `≤ ${MAX_RATIO}`,
        isMet: ratio.ratio <= MAX_RATIO,
      },
    ],
    body: `CPU time of one vector of a 640x480 photo, from the JPEG on, call by call in turns, ${rounds.length} rounds. OpenCV is \`bench/peer/opencv.py\` with the same weights: FaceDetectorYN on the photo with a longer side of 320 pixels, then FaceRecognizerSF, with one thread. The core looks at the face twice.

${formatTable(["", "median", "fastest"], [row("core", 0), row("OpenCV", 1)])}`,
  };
}
