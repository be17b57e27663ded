// Measures the accuracy of the core on labelled photos: `npm run accuracy -- --data DIR`.
// Prints the key figures and writes bench/results/accuracy.md.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../src/config.ts";
import {
  type Calibration,
  DEFAULT_MODELS_DIR,
  openAnalyzer,
  readFalseMatchRates,
} from "../src/core/index.ts";
import { PACKAGE_ROOT } from "../src/package-root.ts";
import { readDatasetsFromArguments } from "../tools/support/datasets.ts";
import { embedPhotos, measurePairs } from "../tools/support/evaluation.ts";
import { anglesChapter, measureAngles } from "./accuracy/angles.ts";
import { attributesChapter, measureAttributes } from "./accuracy/attributes.ts";
import { crowdsChapter, measureCrowds } from "./accuracy/crowds.ts";
import { degradationsChapter, measureDegradations } from "./accuracy/degradations.ts";
import { detectionChapter, measureDetection } from "./accuracy/detection.ts";
import { measureFalseMatches } from "./accuracy/false-match-curve.ts";
import { heldRatesChapter, measureHeldRates } from "./accuracy/held-rates.ts";
import { identificationChapter, measureIdentification } from "./accuracy/identification.ts";
import { landmarksChapter, measureLandmarks } from "./accuracy/landmarks.ts";
import { measureNonFaces, nonFacesChapter } from "./accuracy/non-faces.ts";
import { calibrate, measureImpostors, populationsChapter } from "./accuracy/populations.ts";
import { measureQuality, qualityChapter } from "./accuracy/quality.ts";
import { measureSmallFaces, smallFacesChapter } from "./accuracy/small-faces.ts";
import { readSubjects } from "./accuracy/subjects.ts";
import { tradeoffPlot } from "./accuracy/tradeoff-plot.ts";
import { verificationChapter } from "./accuracy/verification.ts";
import { type Chapter, formatChapters, formatSummary, writeReport, writeResult } from "./report.ts";

const datasets = readDatasetsFromArguments();
const { ortProviders: providers, batchSize } = readConfig();
const analyzer = await openAnalyzer({ modelsDir: DEFAULT_MODELS_DIR, providers, batchSize });

const chapters: Chapter[] = [];
if (datasets.lfw.length > 0) {
  const vectors = await embedPhotos(analyzer, datasets.lfw);
  const pairs = measurePairs(datasets.lfw, vectors);
  const curve = measureFalseMatches(vectors);
  writeResult("accuracy-tradeoff.svg", tradeoffPlot(pairs));
  chapters.push(verificationChapter(pairs, curve));
  if (datasets.impostors.length > 0) {
    const impostors = await measureImpostors(analyzer, datasets.impostors);
    writeCalibration(calibrate(analyzer.identity, impostors));
    chapters.push(populationsChapter(impostors, curve), heldRatesChapter(measureHeldRates(impostors)));
  }
  const identification = measureIdentification(vectors, readFalseMatchRates());
  chapters.push(identificationChapter(identification));
  const subjects = await readSubjects(analyzer, datasets.lfw, vectors);
  chapters.push(
    crowdsChapter(await measureCrowds(analyzer, subjects)),
    anglesChapter(await measureAngles(analyzer, subjects)),
    smallFacesChapter(await measureSmallFaces(analyzer, subjects)),
    degradationsChapter(await measureDegradations(analyzer, subjects)),
    qualityChapter(await measureQuality(analyzer, datasets.lfw)),
  );
}
if (datasets.landmarks68.length > 0)
  chapters.push(landmarksChapter(await measureLandmarks(analyzer, datasets.landmarks68)));
if (datasets.detection.length > 0)
  chapters.push(detectionChapter(await measureDetection(analyzer, datasets.detection)));
chapters.push(nonFacesChapter(await measureNonFaces(analyzer)));
if (datasets.fairface.length > 0)
  chapters.push(attributesChapter(await measureAttributes(analyzer, datasets.fairface)));

/** Writes the curves by which callers choose a threshold, with four significant digits. */
function writeCalibration(calibration: Calibration): void {
  const round = (_: string, value: unknown) =>
    typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
  const file = join(PACKAGE_ROOT, "models/calibration.json");
  writeFileSync(file, `${JSON.stringify(calibration, round, 2)}\n`);
}

const summary = formatSummary(chapters);
writeReport("accuracy.md", [
  "# Accuracy",
  `Written by \`npm run accuracy -- --data DIR\`; model ${analyzer.identity}. Fitted parameters are fitted on one half of a set, chosen by a hash of the file name. The other half is held out.`,
  summary,
  formatChapters(chapters),
]);
console.log(`\n${summary}\n\nAll tables: bench/results/accuracy.md`);
await analyzer.close();
