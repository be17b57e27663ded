// Measures the core on labelled photographs: `npm run accuracy -- --data DIR`.
// Prints the key figures and writes them, with all tables, to bench/results/accuracy.md.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openAnalyzer } from "../src/core/index.ts";
import { PACKAGE_ROOT } from "../src/model-manifest.ts";
import { prepareModels } from "../tools/models/prepare.ts";
import { dataDirFromArguments } from "../tools/support/arguments.ts";
import { readDatasets } from "../tools/support/datasets.ts";
import { attributesChapter, measureAttributes } from "./accuracy/attributes.ts";
import { detectionChapter, measureDetection } from "./accuracy/detection.ts";
import { landmarksChapter, measureLandmarks } from "./accuracy/landmarks.ts";
import { tradeoffPlot } from "./accuracy/tradeoff-plot.ts";
import { measurePairs, verificationChapter } from "./accuracy/verification.ts";
import { type Chapter, summaryOf } from "./report.ts";

const datasets = readDatasets(dataDirFromArguments());
const analyzer = await openAnalyzer({ modelsDir: await prepareModels() });
const results = join(PACKAGE_ROOT, "bench/results");
mkdirSync(results, { recursive: true });

const chapters: Chapter[] = [];
if (datasets.lfw.length > 0) {
  const pairs = await measurePairs(analyzer, datasets.lfw);
  writeFileSync(join(results, "accuracy-tradeoff.svg"), tradeoffPlot(pairs));
  chapters.push(verificationChapter(pairs));
}
if (datasets.landmarks68.length > 0)
  chapters.push(landmarksChapter(await measureLandmarks(analyzer, datasets.landmarks68)));
if (datasets.detection.length > 0)
  chapters.push(detectionChapter(await measureDetection(analyzer, datasets.detection)));
if (datasets.fairface.length > 0)
  chapters.push(attributesChapter(await measureAttributes(analyzer, datasets.fairface)));

const summary = summaryOf(chapters);
const report = [
  "# Accuracy",
  `Written by \`npm run accuracy -- --data DIR\`; model ${analyzer.identity}. What is fitted is fitted on one half of a set, chosen by a hash of the file name, and reported on the other.`,
  summary,
  ...chapters.map(({ title, body }) => `## ${title}\n\n${body}`),
].join("\n\n");
writeFileSync(join(results, "accuracy.md"), `${report}\n`);
console.log(`\n${summary}\n\nAll tables: bench/results/accuracy.md`);
await analyzer.close();
