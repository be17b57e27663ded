import { cropAndMirror } from "../crop/crop.ts";
import { cropTransform } from "../geometry.ts";
import type { Network } from "../networks.ts";
import { AGE_RANGES, type AgeRange, type Attributes, type Pixels, type Point } from "../types.ts";
import { levelSquare } from "./mesh.ts";

const SIDE = 96;
const RANGE = { scale: 1, offset: 0 };

/** The network was trained on squares this much larger than the mesh. */
const MARGIN = 1.114;

/** The network's nine classes (0-2, 3-9, 10-19, 20-29, ... 70 and more) by the spec's range that holds them. */
const RANGE_OF_CLASS = [0, 0, 1, 2, 2, 3, 3, 4, 4];

const LEAST_GENDER_CONFIDENCE = 0.501;

/** Reads age range and gender off each face. The mirrored crop is asked too, and the answers averaged. */
export async function readAttributes(
  network: Network,
  image: Pixels,
  faces: readonly (readonly Point[])[],
): Promise<Attributes[]> {
  const maps = faces.map((points) => cropTransform(levelSquare(points, MARGIN), SIDE));
  const { age, male } = await network.run(maps.map((map) => cropAndMirror(image, map, SIDE, RANGE)));
  return faces.map((_, i) => {
    const maleProbability = (male![2 * i]![0]! + male![2 * i + 1]![0]!) / 2;
    return {
      age: likeliestRange(age![2 * i]!, age![2 * i + 1]!),
      gender: maleProbability >= 0.5 ? "male" : "female",
      genderConfidence: Math.max(LEAST_GENDER_CONFIDENCE, maleProbability, 1 - maleProbability),
    };
  });
}

function likeliestRange(...answers: readonly Float32Array[]): AgeRange {
  const sums = AGE_RANGES.map(() => 0);
  for (const answer of answers)
    RANGE_OF_CLASS.forEach((range, i) => {
      sums[range]! += answer[i]!;
    });
  return AGE_RANGES[sums.indexOf(Math.max(...sums))]!;
}
