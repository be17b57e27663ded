import { boxCenter, longerSide, type Square } from "../geometry.ts";
import type { Networks } from "../networks.ts";
import { NO_PART_LIMITS, type PackedPass, type PartLimits, packMesh, unpackMesh } from "../partial-work.ts";
import type { Pixels } from "../types.ts";
import { type Detection, detect } from "./detect.ts";
import { fitMeshes, type Mesh, squareAround, squareFor } from "./mesh.ts";

/** From this presence on, a mesh lies on a face. */
export const MIN_PRESENCE = 0.5;

/** Maximum detections that a pass follows up, best score first. Only crowds far beyond MAX_FACES have more. */
const MAX_DETECTIONS = 512;

/** A detection with the mesh fitted to it. */
export interface Candidate extends Detection {
  readonly mesh: Mesh;
}

/** A detection pass: its detections, and the meshes fitted to the first of them so far. */
export interface Pass {
  readonly detections: readonly Detection[];
  readonly meshes: readonly Mesh[];
}

/** Detects the faces in some views. Without views the pass is empty. */
export async function startPass(networks: Networks, image: Pixels, views: readonly Square[]): Promise<Pass> {
  if (views.length === 0) return { detections: [], meshes: [] };
  const detections = await detect(networks.detect, image, views);
  return { detections: detections.slice(0, MAX_DETECTIONS), meshes: [] };
}

/** Fits meshes to the next detections. Each mesh is fitted twice, since the first fit improves its square. */
export async function continuePass(
  networks: Networks,
  image: Pixels,
  { detections, meshes }: Pass,
  limits: PartLimits,
  signal?: AbortSignal,
): Promise<Pass> {
  const next = detections.slice(meshes.length, meshes.length + limits.maxDetections);
  const squares = next.map(({ box, eyes }) => squareFor(boxCenter(box), longerSide(box), eyes));
  const first = await fitMeshes(networks.mesh, image, squares);
  signal?.throwIfAborted();
  const second = await fitMeshes(networks.mesh, image, first.map(squareAround));
  signal?.throwIfAborted();
  return { detections, meshes: [...meshes, ...first.map((mesh, i) => chooseMesh(mesh, second[i]!))] };
}

/** Whether every detection has its mesh. */
export function isComplete({ detections, meshes }: Pass): boolean {
  return meshes.length === detections.length;
}

/** Returns the candidates of a complete pass. */
export function candidatesFromPass({ detections, meshes }: Pass): Candidate[] {
  return detections.map((detection, i) => ({ ...detection, mesh: meshes[i]! }));
}

export function packPass({ detections, meshes }: Pass): PackedPass {
  return { detections, meshes: meshes.map(packMesh) };
}

export function unpackPass({ detections, meshes }: PackedPass): Pass {
  return { detections, meshes: meshes.map(unpackMesh) };
}

/** Chooses the later of two fits, unless it slid off a face that the earlier one was on. */
export function chooseMesh(earlier: Mesh, later: Mesh): Mesh {
  return earlier.presence >= MIN_PRESENCE && later.presence < MIN_PRESENCE ? earlier : later;
}

/** Runs one pass over some views and returns all its candidates, faces or not. */
export async function findCandidates(
  networks: Networks,
  image: Pixels,
  views: readonly Square[],
  signal?: AbortSignal,
): Promise<Candidate[]> {
  const started = await startPass(networks, image, views);
  signal?.throwIfAborted();
  return candidatesFromPass(await continuePass(networks, image, started, NO_PART_LIMITS, signal));
}
