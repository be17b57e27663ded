import { readFileSync } from "node:fs";
import { boundingBox, iou } from "../../src/core/geometry.ts";
import {
  type Analyzer,
  type Box,
  distanceOf,
  type EmbeddedFace,
  type Embedding,
  type EmbedOptions,
  FaceError,
  type Point,
} from "../../src/core/index.ts";
import type { Pair } from "./datasets.ts";
import { mapWithProgress } from "./progress.ts";

/** A pair with the distance of its two faces. The distance is missing if a face was not found. */
export interface MeasuredPair extends Pair {
  readonly distance?: number;
}

/** Embeds the most prominent face of every photo of the pairs. Photos without a face are left out. */
export async function embedPhotos(
  analyzer: Analyzer,
  pairs: readonly Pair[],
): Promise<ReadonlyMap<string, Embedding>> {
  const files = [...new Set(pairs.flatMap(({ first, second }) => [first, second]))];
  const embeddings = await mapWithProgress(
    "verification",
    files,
    async (file) => (await embedImage(analyzer, readFileSync(file)))?.embedding,
  );
  return new Map(files.flatMap((file, i) => (embeddings[i] ? [[file, embeddings[i]] as const] : [])));
}

/** Measures the distance of each pair, given the embeddings of its photos. */
export function measurePairs(
  pairs: readonly Pair[],
  embeddings: ReadonlyMap<string, Embedding>,
): MeasuredPair[] {
  return pairs.map((pair) => {
    const first = embeddings.get(pair.first);
    const second = embeddings.get(pair.second);
    return { ...pair, ...(first && second && { distance: distanceOf(first, second) }) };
  });
}

/** Embeds the most prominent face of an image. Returns undefined if there is none. */
export async function embedImage(
  analyzer: Analyzer,
  image: Uint8Array,
  options?: EmbedOptions,
): Promise<EmbeddedFace | undefined> {
  try {
    return await analyzer.embed(image, options);
  } catch (error) {
    if (error instanceof FaceError && error.kind === "noFace") return undefined;
    throw error;
  }
}

/** The IoU from which a detection matches a label. It is low because labels enclose whole heads. */
const MATCH_IOU = 0.3;

/** Counts the true positives: the labels matched one-to-one with detections, highest IoU first. */
export function countTruePositives(detected: readonly Box[], labelled: readonly Box[]): number {
  const candidates = detected
    .flatMap((box, face) => labelled.map((label, i) => ({ face, label: i, iou: iou(box, label) })))
    .filter(({ iou }) => iou >= MATCH_IOU)
    .sort((one, other) => other.iou - one.iou);
  const faces = new Set<number>();
  const labels = new Set<number>();
  for (const { face, label } of candidates) {
    if (faces.has(face) || labels.has(label)) continue;
    faces.add(face);
    labels.add(label);
  }
  return labels.size;
}

/** The face whose box has the highest IoU with the bounds of annotated landmarks, and that IoU. */
export function findAnnotatedFace<Face extends { readonly box: Box }>(
  faces: readonly Face[],
  landmarks: readonly Point[],
): { readonly face: Face; readonly iou: number } | undefined {
  const bounds = boundingBox(landmarks);
  const [best] = faces
    .map((face) => ({ face, iou: iou(face.box, bounds) }))
    .sort((one, other) => other.iou - one.iou);
  return best;
}
