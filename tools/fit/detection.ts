// Shows how the thresholds of the first detection pass trade recall against false positives:
// `npm run fit:detection -- --data DIR`. CONFIDENT_SCORE and MIN_PRESENCE of src/core/steps are taken from the middle of the
// region with the most true positives at the fewest false positives.
import { readFileSync } from "node:fs";
import { decode } from "../../src/core/image/decode.ts";
import { DEFAULT_LIMITS } from "../../src/core/image/limits.ts";
import { openNetworks } from "../../src/core/networks.ts";
import { wholeView } from "../../src/core/steps/detect.ts";
import { type Candidate, findCandidates } from "../../src/core/steps/detection-pass.ts";
import { DEFAULT_MODELS_DIR } from "../../src/model-manifest.ts";
import { readDatasetsFromArguments, splitOfFile } from "../support/datasets.ts";
import { countTruePositives } from "../support/evaluation.ts";
import { formatTable } from "../support/format.ts";
import { mapWithProgress } from "../support/progress.ts";
import { sum } from "../support/statistics.ts";

const CONFIDENT_SCORES = [0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8];
const PRESENCES = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

const { detection } = readDatasetsFromArguments();
const networks = await openNetworks(DEFAULT_MODELS_DIR);
const scenes = await mapWithProgress(
  "first pass",
  detection.filter(({ file }) => splitOfFile(file) === "fit"),
  async ({ file, boxes }) => {
    const { pixels } = await decode(readFileSync(file), DEFAULT_LIMITS);
    return { boxes, candidates: await findCandidates(networks, pixels, [wholeView(pixels)]) };
  },
);
await networks.close();

const rows = CONFIDENT_SCORES.map((score) => [
  score,
  ...PRESENCES.map((presence) => {
    const isFace = (candidate: Candidate) => candidate.score >= score || candidate.mesh.presence >= presence;
    const results = scenes.map(({ boxes, candidates }) => {
      const detected = candidates.filter(isFace).map(({ box }) => box);
      const truePositives = countTruePositives(detected, boxes);
      return { truePositives, falsePositives: detected.length - truePositives };
    });
    const truePositives = sum(results.map((result) => result.truePositives));
    const falsePositives = sum(results.map((result) => result.falsePositives));
    return `${truePositives} / ${falsePositives}`;
  }),
]);
const labelled = sum(scenes.map(({ boxes }) => boxes.length));
console.log(
  `True positives / false positives for ${labelled} labelled faces. Rows: score threshold, columns: presence threshold.\n`,
);
console.log(formatTable(["", ...PRESENCES.map(String)], rows));
