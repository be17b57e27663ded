import { cropAndMirror } from "../crop/crop.ts";
import { cropTransform } from "../geometry.ts";
import type { Network } from "../networks.ts";
import { AGE_RANGES, type AgeRange, type Attributes, type Pixels, type Point } from "../types.ts";
import { levelSquare } from "./mesh.ts";

const SIDE = 96;
const NORMALIZATION = { scale: 1, offset: 0 };

/** Size of the network's square in relation to the mesh, as in its training. */
const MARGIN = 1.114;

/** Index in AGE_RANGES of each of the network's nine classes (0-2, 3-9, 10-19, 20-29, ..., 70 and older). */
const RANGE_BY_CLASS = [0, 0, 1, 2, 2, 3, 3, 4, 4];

const MIN_GENDER_CONFIDENCE = 0.501;

/** Estimates age range and gender of each face. The outputs for the crop and its mirror image are averaged. */
export async function estimateAttributes(
  network: Network,
  image: Pixels,
  faces: readonly (readonly Point[])[],
): Promise<Attributes[]> {
  const transforms = faces.map((points) => cropTransform(levelSquare(points, MARGIN), SIDE));
  const crops = transforms.map((transform) => cropAndMirror(image, transform, SIDE, NORMALIZATION));
  const { age, male } = await network.run(crops);
  return faces.map((_, i) => {
    const maleProbability = (male![2 * i]![0]! + male![2 * i + 1]![0]!) / 2;
    return {
      age: mostLikelyRange(age![2 * i]!, age![2 * i + 1]!),
      gender: maleProbability >= 0.5 ? "male" : "female",
      genderConfidence: Math.max(MIN_GENDER_CONFIDENCE, maleProbability, 1 - maleProbability),
    };
  });
}

function mostLikelyRange(...outputs: readonly Float32Array[]): AgeRange {
  const sums = AGE_RANGES.map(() => 0);
  for (const probabilities of outputs)
    RANGE_BY_CLASS.forEach((range, i) => {
      sums[range]! += probabilities[i]!;
    });
  return AGE_RANGES[sums.indexOf(Math.max(...sums))]!;
}
