// Photos of the verification set that chapters change: turned, shrunk, degraded or tiled.
import { readFileSync } from "node:fs";
import { boxCenter, iou, longerSide, scaleBox } from "../../src/core/geometry.ts";
import type { Analyzer, Box, Embedding, Point } from "../../src/core/index.ts";
import type { Pair } from "../../tools/support/datasets.ts";
import { resize } from "../../tools/support/degradations.ts";
import { everyNth } from "../../tools/support/every-nth.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { personOf } from "./false-match-curve.ts";

/** A person's photo, what is found in it as it is, and the vector of another photo of the person. */
export interface Subject {
  /** Encoded as in the set. */
  readonly photo: Buffer;
  readonly width: number;
  readonly height: number;
  /** Box of the most prominent face. */
  readonly box: Box;
  readonly vector: Embedding;
  /** Boxes of the other faces, also of those that are found only if the photo is enlarged. */
  readonly bystanders: readonly Box[];
  readonly otherVector: Embedding;
}

/** Enough for a crowd of 14 x 14 different people. */
const COUNT = 196;

/** Bystanders are also looked for in a copy that is enlarged by this factor. */
const ENLARGEMENT = 2;

/** Reads one photo of each person with two photos, up to COUNT people. */
export async function readSubjects(
  analyzer: Analyzer,
  pairs: readonly Pair[],
  vectors: ReadonlyMap<string, Embedding>,
): Promise<Subject[]> {
  const pairOf = new Map<string, Pair>();
  for (const pair of pairs)
    if (pair.same && vectors.has(pair.first) && vectors.has(pair.second))
      pairOf.set(personOf(pair.first), pairOf.get(personOf(pair.first)) ?? pair);
  const chosen = everyNth([...pairOf.values()], COUNT);
  return mapWithProgress("subjects", chosen, async ({ first, second }) => {
    const photo = readFileSync(first);
    const { width, height, faces } = await analyzer.analyze(photo, { landmarks: false, attributes: false });
    const large = await resize(photo, width * ENLARGEMENT, height * ENLARGEMENT);
    const { faces: inLarge } = await analyzer.analyze(large, { landmarks: false, attributes: false });
    const enlarged = inLarge.map(({ box }) => scaleBox(box, 1 / ENLARGEMENT, 1 / ENLARGEMENT));
    const { box } = faces[0]!;
    const others = [...faces.slice(1).map((face) => face.box), ...enlarged];
    return {
      ...{ photo, width, height, box },
      vector: vectors.get(first)!,
      bystanders: others.filter((other) => !isSameFace(other, box)),
      otherVector: vectors.get(second)!,
    };
  });
}

export function isSameFace(one: Box, other: Box): boolean {
  return iou(one, other) >= 0.3;
}

/** Whether a box lies on a face with this centre. */
export function isAt({ x, y }: Point, box: Box): boolean {
  const center = boxCenter(box);
  return Math.hypot(center.x - x, center.y - y) < longerSide(box) / 2;
}
