import { AGE_RANGES, type AgeRange } from "../age-ranges.ts";
import { crop } from "../crop/crop.ts";
import { cropTransform, type Pixels, transformPoint } from "../geometry.ts";
import type { Network } from "../networks.ts";
import { type Population, plausiblePopulations } from "../populations.ts";
import { alignmentTransform, rollOf, TEMPLATE_SIDE } from "./align.ts";
import type { FivePoints } from "./detect.ts";

/** How a face appears: age and gender as annotators would label them, not a person's actual age and gender. */
export interface Attributes {
  readonly age: AgeRange;
  /** Probability of the age range, 0 to 1; at least 0.2, since it is the most likely of five. */
  readonly ageConfidence: number;
  readonly gender: "male" | "female";
  /** 0.501 to 1. */
  readonly genderConfidence: number;
}

/** Side of the network's input in pixels. */
const SIDE = 80;
const SIZE = { width: SIDE, height: SIDE };

/** The crop is this much wider than the embedding network's, around the same center. */
const MARGIN = 1.12;
const CENTER = { x: (TEMPLATE_SIDE - 1) / 2, y: (TEMPLATE_SIDE - 1) / 2 };

/** Index in AGE_RANGES of each of the network's nine classes (0-2, 3-9, 10-19, 20-29, ..., 70 and older). */
const RANGE_BY_CLASS = [0, 0, 1, 2, 2, 3, 3, 4, 4];

const MIN_GENDER_CONFIDENCE = 0.501;

/** The output of the attribute network for one face. */
interface EstimatedAttributes extends Attributes {
  readonly populations: readonly Population[];
}

/** Estimates the attributes of each face. */
export async function estimateAttributes(
  network: Network,
  image: Pixels,
  faces: readonly { readonly points: FivePoints }[],
): Promise<EstimatedAttributes[]> {
  const crops = faces.map(({ points }) => {
    const aligned = alignmentTransform(points);
    const side = Math.hypot(aligned.a, aligned.b) * TEMPLATE_SIDE * MARGIN;
    const square = { center: transformPoint(aligned, CENTER), side, radians: rollOf(points) };
    return crop(image, cropTransform(square, SIDE), SIZE);
  });
  const { age, male } = await network.run(crops);
  return faces.map((_, i) => {
    const maleProbability = male![i]![0]!;
    return {
      ...mostLikelyAge(age![i]!),
      gender: maleProbability >= 0.5 ? "male" : "female",
      genderConfidence: Math.max(MIN_GENDER_CONFIDENCE, maleProbability, 1 - maleProbability),
      populations: plausiblePopulations(age![i]!, maleProbability),
    };
  });
}

function mostLikelyAge(probabilities: Float32Array): Pick<Attributes, "age" | "ageConfidence"> {
  const sums = AGE_RANGES.map(() => 0);
  RANGE_BY_CLASS.forEach((range, i) => {
    sums[range]! += probabilities[i]!;
  });
  const ageConfidence = Math.max(...sums);
  return { age: AGE_RANGES[sums.indexOf(ageConfidence)]!, ageConfidence: Math.min(1, ageConfidence) };
}
