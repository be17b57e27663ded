// Shows what the thresholds of a first look at a photo would find: `npm run fit:detection -- --data DIR`.
// The two of src/core/steps/find.ts are taken from the middle of where the most is found with the least false.
import { readFileSync } from "node:fs";
import { countHits } from "../../bench/accuracy/detection.ts";
import { table } from "../../bench/report.ts";
import { decode } from "../../src/core/image/decode.ts";
import { DEFAULT_LIMITS } from "../../src/core/limits.ts";
import { openNetworks } from "../../src/core/networks.ts";
import { wholeView } from "../../src/core/steps/detect.ts";
import { type Candidate, look } from "../../src/core/steps/find.ts";
import { DEFAULT_MODELS_DIR } from "../../src/model-manifest.ts";
import { dataDirFromArguments } from "../support/arguments.ts";
import { halfOf, readDatasets } from "../support/datasets.ts";
import { mapWithProgress } from "../support/progress.ts";

const SURE_SCORES = [0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8];
const PRESENCES = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

const { detection } = readDatasets(dataDirFromArguments());
const networks = await openNetworks(DEFAULT_MODELS_DIR);
const scenes = await mapWithProgress(
  "first look",
  detection.filter(({ file }) => halfOf(file) === "fit"),
  async ({ file, boxes }) => {
    const photo = await decode(readFileSync(file), DEFAULT_LIMITS);
    const image = photo.pixels;
    return { boxes, candidates: await look(networks, image, [wholeView(image)]) };
  },
);
await networks.close();

const rows = SURE_SCORES.map((score) => [
  score,
  ...PRESENCES.map((presence) => {
    const isFace = (candidate: Candidate) => candidate.score >= score || candidate.mesh.presence >= presence;
    const found = scenes.map(({ boxes, candidates }) => {
      const faces = candidates.filter(isFace);
      const hits = countHits(
        faces.map(({ box }) => box),
        boxes,
      );
      return { hits, falseFaces: faces.length - hits };
    });
    const sum = (key: "hits" | "falseFaces") => found.reduce((total, scene) => total + scene[key], 0);
    return `${sum("hits")} / ${sum("falseFaces")}`;
  }),
]);
const labelled = scenes.reduce((total, { boxes }) => total + boxes.length, 0);
console.log(`faces found / false, of ${labelled}; down: sure score, across: least presence\n`);
console.log(table(["", ...PRESENCES.map(String)], rows));
