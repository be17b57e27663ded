// The work on one image can be done in parts, so that a worker can serve other callers between two parts.
import type { Detection } from "./steps/detect.ts";
import type { Vector } from "./steps/embed.ts";
import type { Mesh } from "./steps/mesh.ts";
import { type Rank, sortByRank } from "./steps/rank.ts";
import type { Analysis, AnalyzeOptions, Box, Embedding, Face, FaceBasics } from "./types.ts";

/** Limits of one part of the work on an image. */
export interface PartLimits {
  /** Maximum number of faces to measure. */
  readonly maxFaces: number;
  /** Maximum number of detections to fit a mesh to; a multiple of the networks' batch size. */
  readonly maxDetections: number;
}

/** Maximum number of faces in one part of a worker's job. */
export const FACES_PER_PART = 16;

/** Limits of a worker's part. Four detections cost about as much as one face, since each takes two mesh runs. */
export const WORKER_PART_LIMITS: PartLimits = {
  maxFaces: FACES_PER_PART,
  maxDetections: 4 * FACES_PER_PART,
};

/** Does all work in one part. */
export const NO_PART_LIMITS: PartLimits = {
  maxFaces: Number.POSITIVE_INFINITY,
  maxDetections: Number.POSITIVE_INFINITY,
};

/** Where to resume the work on an image. It is plain data, so that another process can resume it. */
export type Checkpoint =
  | { readonly phase: "search"; readonly firstPass: PackedPass; readonly secondPass?: PackedPass }
  | { readonly phase: "faces"; readonly facesFound: number; readonly remaining: readonly PackedFace[] }
  | { readonly phase: "boxes"; readonly boxesDone: number };

/** The state of a detection pass: its detections, and the meshes fitted to the first of them so far. */
export interface PackedPass {
  readonly detections: readonly Detection[];
  readonly meshes: readonly PackedMesh[];
}

/** A face that was found but not measured yet. */
export interface PackedFace {
  readonly box: Box;
  readonly score: number;
  readonly mesh: PackedMesh;
}

/** A mesh with x, y and z of all points in one array, because hundreds of objects would be slow to serialize. */
export interface PackedMesh {
  readonly points: Float64Array;
  readonly presence: number;
}

/** Packs a mesh without loss. */
export function packMesh({ points, presence }: Mesh): PackedMesh {
  const coordinates = new Float64Array(3 * points.length);
  points.forEach(({ x, y, z }, i) => {
    coordinates.set([x, y, z], 3 * i);
  });
  return { points: coordinates, presence };
}

/** Restores a packed mesh. */
export function unpackMesh({ points, presence }: PackedMesh): Mesh {
  const unpacked = Array.from({ length: points.length / 3 }, (_, i) => ({
    x: points[3 * i]!,
    y: points[3 * i + 1]!,
    z: points[3 * i + 2]!,
  }));
  return { points: unpacked, presence };
}

/** The result of one part. */
interface Part<Result> {
  /** Size of the upright image as sent. */
  readonly width: number;
  readonly height: number;
  /** Number of faces in the image; 0 until the search is complete. */
  readonly facesFound: number;
  readonly faces: readonly Result[];
  /** Where to resume; missing in the last part. */
  readonly checkpoint?: Checkpoint;
}

/** A face with its rank, by which faces of several parts are merged. */
export interface RankedFace extends Face {
  readonly rank: Rank;
}

/** One part of `analyze`: some of the faces. */
export type PartialAnalysis = Part<RankedFace>;

/** One part of `embed`: the most prominent face of the part. */
export type PartialEmbedding = Part<FaceBasics & { readonly rank: Rank; readonly vector: Vector }>;

/** Merges all parts of `analyze`. Each part has as many faces as the options allow for the whole. */
export function mergeAnalysis(parts: readonly PartialAnalysis[], options: AnalyzeOptions = {}): Analysis {
  const { width, height, facesFound } = parts.at(-1)!;
  const faces = limitFaces(
    parts.flatMap((part) => part.faces),
    options,
  ).map(({ rank, ...face }) => face);
  return { width, height, facesFound, faces };
}

/** Sorts faces by rank and keeps as many as the options allow. */
export function limitFaces<T extends { readonly rank: Rank }>(
  faces: readonly T[],
  { boxes = [], maxFaces }: AnalyzeOptions,
): T[] {
  return sortByRank(faces).slice(0, boxes.length > 0 ? undefined : maxFaces);
}

/** Takes the most prominent face of all parts of `embed`. At least one part must have a face. */
export function mergeEmbedding(parts: readonly PartialEmbedding[]): Embedding {
  const { width, height, facesFound } = parts.at(-1)!;
  const [{ rank, ...face }] = sortByRank(parts.flatMap((part) => part.faces)) as [
    PartialEmbedding["faces"][number],
  ];
  return { width, height, facesFound, ...face };
}
