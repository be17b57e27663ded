// Fits the confidence curve of compare_faces: `npm run fit:confidence -- --data DIR`.
// Prints the two numbers that src/core/steps/compare.ts holds.

import { measurePairs } from "../../bench/accuracy/verification.ts";
import { mean } from "../../bench/report.ts";
import { confidenceOf, openAnalyzer } from "../../src/core/index.ts";
import { prepareModels } from "../models/prepare.ts";
import { dataDirFromArguments } from "../support/arguments.ts";
import { halfOf, nameOf, readDatasets } from "../support/datasets.ts";

const { lfw } = readDatasets(dataDirFromArguments());
const analyzer = await openAnalyzer({ modelsDir: await prepareModels() });
const pairs = await measurePairs(
  analyzer,
  lfw.filter((pair) => halfOf(nameOf(pair)) === "fit"),
);
await analyzer.close();

/** How sure a pair of a kind may make us, after Platt: with few pairs seen, none is beyond doubt. */
const certainty = {
  same: (count(true) + 1) / (count(true) + 2),
  different: 1 / (count(false) + 2),
};

/** Mean surprise at the truth, in nats; the slopes with the least of it read as probabilities. */
function surpriseOf(steepness: { match: number; mismatch: number }): number {
  return mean(
    pairs.flatMap(({ distance, same }) => {
      if (distance === undefined) return [];
      const confidence = confidenceOf(distance, steepness);
      const truth = same ? certainty.same : certainty.different;
      return [-truth * Math.log(confidence) - (1 - truth) * Math.log(1 - confidence)];
    }),
  );
}

function count(same: boolean): number {
  return pairs.filter((pair) => pair.same === same).length;
}

const slopes = Array.from({ length: 200 }, (_, i) => i + 1);
const best = slopes
  .flatMap((match) =>
    slopes.map((mismatch) => ({ match, mismatch, surprise: surpriseOf({ match, mismatch }) })),
  )
  .reduce((one, other) => (other.surprise < one.surprise ? other : one));
console.log(
  `on ${pairs.length} pairs: match ${best.match}, mismatch ${best.mismatch} (surprise ${best.surprise.toFixed(4)})`,
);
