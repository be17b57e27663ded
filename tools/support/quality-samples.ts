// Degraded photos of faces, to fit and to judge the quality of a face by the matches that are missed.
import { readFileSync } from "node:fs";
import {
  type Analyzer,
  distanceOf,
  type EmbeddedFace,
  FaceError,
  MATCH_DISTANCE,
  type Quality,
} from "../../src/core/index.ts";
import { type Pair, type Split, splitOfFile } from "./datasets.ts";
import { DEGRADATIONS, MORE_DEGRADATIONS } from "./degradations.ts";
import { everyNth } from "./every-nth.ts";
import { mapWithProgress } from "./progress.ts";

/** A degraded photo in which the face was found. */
export interface QualitySample {
  readonly degradation: string;
  readonly quality: Quality;
  /** Whether the face does not match another photo of the person. */
  readonly isMiss: boolean;
}

const WAYS = Object.entries({ ...DEGRADATIONS, ...MORE_DEGRADATIONS });

/**
 * Degrades one photo of some people of a half, and measures quality and distance to another photo of the person. People
 * whose photos do not match as they are are left out: quality cannot explain their misses.
 */
export async function measureQualitySamples(
  analyzer: Analyzer,
  pairs: readonly Pair[],
  split: Split,
  people: number,
): Promise<QualitySample[]> {
  const pairOf = new Map<string, Pair>();
  for (const pair of pairs) {
    const person = pair.first.replace(/_\d+\.\w+$/, "");
    if (pair.same && !pairOf.has(person)) pairOf.set(person, pair);
  }
  const ofSplit = [...pairOf.values()].filter(({ first }) => splitOfFile(first) === split);
  const samples = await mapWithProgress("quality", everyNth(ofSplit, people), async ({ first, second }) => {
    const photo = readFileSync(first);
    const face = await embedWithQuality(analyzer, photo);
    const other = await embedWithQuality(analyzer, readFileSync(second));
    if (!face || !other || distanceOf(face.embedding, other.embedding) >= MATCH_DISTANCE) return [];
    const found: QualitySample[] = [];
    for (const [degradation, degrade] of WAYS) {
      const { width, height, box } = face;
      const degraded = await embedWithQuality(analyzer, await degrade({ photo, width, height, box }));
      if (degraded)
        found.push({
          degradation,
          quality: degraded.quality!,
          isMiss: distanceOf(degraded.embedding, other.embedding) >= MATCH_DISTANCE,
        });
    }
    return found;
  });
  return samples.flat();
}

/** Measures the quality of the most prominent face of each photo of a half as it is. */
export async function measureUnharmed(
  analyzer: Analyzer,
  pairs: readonly Pair[],
  split: Split,
): Promise<Quality[]> {
  const files = new Set(pairs.flatMap(({ first, second }) => [first, second]));
  const chosen = [...files].filter((file) => splitOfFile(file) === split);
  const qualities = await mapWithProgress("unharmed", chosen, async (file) => {
    const options = { attributes: false, quality: true, maxFaces: 1 };
    const { faces } = await analyzer.analyze(readFileSync(file), options);
    return faces.map(({ quality }) => quality!);
  });
  return qualities.flat();
}

async function embedWithQuality(analyzer: Analyzer, image: Uint8Array): Promise<EmbeddedFace | undefined> {
  try {
    return await analyzer.embed(image, { quality: true });
  } catch (error) {
    if (error instanceof FaceError && error.kind === "noFace") return undefined;
    throw error;
  }
}
