// Fits the confidence curve of compare_faces: `npm run fit:confidence -- --data DIR`.
// Prints the two slopes that src/core/steps/compare.ts defines.

import { confidenceOf, DEFAULT_MODELS_DIR, openAnalyzer } from "../../src/core/index.ts";
import { readDatasetsFromArguments, splitOfPair } from "../support/datasets.ts";
import { embedPhotos, measurePairs } from "../support/evaluation.ts";
import { mean } from "../support/statistics.ts";

const MAX_SLOPE = 200;

const { lfw } = readDatasetsFromArguments();
const analyzer = await openAnalyzer({ modelsDir: DEFAULT_MODELS_DIR });
const fitPairs = lfw.filter((pair) => splitOfPair(pair) === "fit");
const pairs = measurePairs(fitPairs, await embedPhotos(analyzer, fitPairs));
await analyzer.close();

/** Target probabilities smoothed as in Platt scaling, so that a small set does not make the curve overconfident. */
const targets = {
  same: (count(true) + 1) / (count(true) + 2),
  different: 1 / (count(false) + 2),
};

/** Mean cross-entropy of the confidences in nats. The slopes that minimise it make confidences probabilities. */
function crossEntropy(steepness: { match: number; mismatch: number }): number {
  return mean(
    pairs.flatMap(({ distance, same }) => {
      if (distance === undefined) return [];
      const confidence = confidenceOf(distance, steepness);
      const target = same ? targets.same : targets.different;
      return [-target * Math.log(confidence) - (1 - target) * Math.log(1 - confidence)];
    }),
  );
}

function count(same: boolean): number {
  return pairs.filter((pair) => pair.same === same).length;
}

const slopes = Array.from({ length: MAX_SLOPE }, (_, i) => i + 1);
const best = slopes
  .flatMap((match) =>
    slopes.map((mismatch) => ({ match, mismatch, loss: crossEntropy({ match, mismatch }) })),
  )
  .reduce((one, other) => (other.loss < one.loss ? other : one));
console.log(
  `Fitted on ${pairs.length} pairs: match ${best.match}, mismatch ${best.mismatch} (cross-entropy ${best.loss.toFixed(4)})`,
);
