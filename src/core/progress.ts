import type { Detection } from "./steps/detect.ts";
import type { Mesh } from "./steps/mesh.ts";
import type { Box } from "./types.ts";

/** How much of an image's work is done before other jobs have their turn. */
export interface TurnLimits {
  /** Most faces that are measured. */
  readonly faces: number;
  /** Most detections on which a mesh is laid; a multiple of the networks' batch. */
  readonly detections: number;
}

/** Most faces of a job that a worker processes in one turn. */
export const FACES_PER_TURN = 16;

/** A worker's turn: 16 faces, or detections that cost about as much, as each needs two runs of the mesh. */
export const WORKER_TURN: TurnLimits = { faces: FACES_PER_TURN, detections: 4 * FACES_PER_TURN };

/** All work in one turn. */
export const ONE_TURN: TurnLimits = { faces: Number.POSITIVE_INFINITY, detections: Number.POSITIVE_INFINITY };

/** Where the work on an image stands after a turn: plain data, so that another process can continue it. */
export type Progress =
  | { readonly stage: "search"; readonly first: LookProgress; readonly second?: LookProgress }
  | { readonly stage: "faces"; readonly facesFound: number; readonly left: readonly PackedCandidate[] }
  | { readonly stage: "boxes"; readonly done: number };

/** Detections, and the meshes of the first of them. */
export interface LookProgress {
  readonly detections: readonly Detection[];
  readonly meshes: readonly PackedMesh[];
}

/** A face that was found but not measured. */
export interface PackedCandidate {
  readonly box: Box;
  readonly score: number;
  readonly mesh: PackedMesh;
}

/** A mesh with x, y and z of its points in one array: hundreds of objects would be slow to send. */
export interface PackedMesh {
  readonly points: Float64Array;
  readonly presence: number;
}

/** Packs a mesh without loss. */
export function packMesh({ points, presence }: Mesh): PackedMesh {
  const numbers = new Float64Array(3 * points.length);
  points.forEach(({ x, y, z }, i) => {
    numbers.set([x, y, z], 3 * i);
  });
  return { points: numbers, presence };
}

/** Restores a mesh. */
export function unpackMesh({ points, presence }: PackedMesh): Mesh {
  const unpacked = Array.from({ length: points.length / 3 }, (_, i) => ({
    x: points[3 * i]!,
    y: points[3 * i + 1]!,
    z: points[3 * i + 2]!,
  }));
  return { points: unpacked, presence };
}
