// Fits the curves of the components of quality: `npm run fit:quality -- --data DIR`.
// Writes src/core/steps/quality-table.ts and prints the value from which all unharmed photos are usable.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_MODELS_DIR, openAnalyzer } from "../../src/core/index.ts";
import {
  type ComponentCurve,
  QUALITY_COMPONENTS,
  type QualityComponent,
  type QualityMeasures,
  qualityOf,
} from "../../src/core/steps/quality.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { readDatasetsFromArguments } from "../support/datasets.ts";
import { measureQualitySamples, measureUnharmed } from "../support/quality-samples.ts";
import { mean } from "../support/statistics.ts";

const PEOPLE = 70;

/** The components of which a larger measure is worse. */
const LESS_IS_BETTER: readonly QualityComponent[] = [
  "overExposure",
  "noise",
  "yaw",
  "pitch",
  "roll",
  "faceOcclusion",
];

/** Steps and step size of Adam. */
const STEPS = 600;
const RATE = 0.03;

/** Where the search begins, and how strongly it is drawn there: a component that harms no photo stays harmless. */
const START = { intercept: 3.5, logSlope: 0 };
const PRIOR = { intercept: 0.15, logSlope: 0.5 };

const { lfw } = readDatasetsFromArguments();
const analyzer = await openAnalyzer({ modelsDir: DEFAULT_MODELS_DIR });
const samples = await measureQualitySamples(analyzer, lfw, "fit", PEOPLE);
const unharmed = await measureUnharmed(analyzer, lfw, "fit");
await analyzer.close();

const rows = samples.map(({ quality, isMiss }) => ({
  measures: quality.components.map((c) => c.measure),
  isMiss,
}));
const scales = QUALITY_COMPONENTS.map((component, i) => {
  const column = rows.map(({ measures }) => measures[i]!);
  const center = mean(column);
  const deviation = Math.sqrt(mean(column.map((value) => (value - center) ** 2)));
  return { center, unit: LESS_IS_BETTER.includes(component) ? -deviation : deviation };
});
const inputs = rows.map(({ measures, isMiss }) => ({
  isMiss,
  values: measures.map((value, i) => (value - scales[i]!.center) / scales[i]!.unit),
}));

/** Maximises the likelihood of the matches and misses. Returns intercept and logarithm of the slope of each component. */
function fitCurves(): { intercept: number; logSlope: number }[] {
  const curves = QUALITY_COMPONENTS.map(() => ({ ...START }));
  const names = ["intercept", "logSlope"] as const;
  const moments = curves.map(() => ({ intercept: [0, 0], logSlope: [0, 0] }));
  for (let step = 1; step <= STEPS; step++) {
    const gradients = curves.map((curve) => ({
      intercept: -PRIOR.intercept * (curve.intercept - START.intercept),
      logSlope: -PRIOR.logSlope * (curve.logSlope - START.logSlope),
    }));
    for (const { values, isMiss } of inputs) {
      const terms = curves.map(({ intercept, logSlope }, i) => Math.exp(logSlope) * values[i]! + intercept);
      const misses = terms.map((term) => 1 / (1 + Math.exp(term)));
      const match = misses.reduce((product, miss) => product * (1 - miss), 1);
      const weight = isMiss ? -match / Math.max(1e-9, 1 - match) : 1;
      for (const [i, gradient] of gradients.entries()) {
        gradient.intercept += weight * misses[i]!;
        gradient.logSlope += weight * misses[i]! * Math.exp(curves[i]!.logSlope) * values[i]!;
      }
    }
    for (const [i, curve] of curves.entries())
      for (const name of names) {
        const moment = moments[i]![name];
        const gradient = gradients[i]![name];
        moment[0] = 0.9 * moment[0]! + 0.1 * gradient;
        moment[1] = 0.999 * moment[1]! + 0.001 * gradient ** 2;
        const size = Math.sqrt(moment[1] / (1 - 0.999 ** step)) + 1e-9;
        curve[name] += (RATE * (moment[0] / (1 - 0.9 ** step))) / size;
      }
  }
  return curves;
}

const curves = Object.fromEntries(
  fitCurves().map(({ intercept, logSlope }, i): [string, ComponentCurve] => {
    const { center, unit } = scales[i]!;
    const slope = Math.exp(logSlope) / unit;
    const round = (value: number) => Number(value.toPrecision(3));
    return [QUALITY_COMPONENTS[i]!, { middle: round(center - intercept / slope), slope: round(slope) }];
  }),
) as Record<QualityComponent, ComponentCurve>;

const lines = QUALITY_COMPONENTS.map(
  (name) => `  ${name}: { middle: ${curves[name].middle}, slope: ${curves[name].slope} },`,
);
writeFileSync(
  join(PACKAGE_ROOT, "src/core/steps/quality-table.ts"),
  `// Written by \`npm run fit:quality\`.

/** The probability that a face matches another photo of the person, by each component. */
export const COMPONENT_CURVES = {
${lines.join("\n")}
};
`,
);
const values = unharmed
  .map(({ components }) => {
    const measures = Object.fromEntries(components.map(({ component, measure }) => [component, measure]));
    return qualityOf(measures as QualityMeasures, curves).value;
  })
  .toSorted((one, other) => one - other);
const misses = samples.filter(({ isMiss }) => isMiss).length;
console.log(`Fitted on ${samples.length} degraded photos, ${misses} of which do not match.`);
console.log(
  `Lowest values of ${values.length} unharmed photos: ${values
    .slice(0, 5)
    .map((value) => value.toFixed(1))
    .join(" ")}`,
);
