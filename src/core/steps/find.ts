import { boundingBox, boxArea, intersectBoxes, iou, longerSide, type Square } from "../geometry.ts";
import type { Networks } from "../networks.ts";
import { type Checkpoint, NO_PART_LIMITS, type PartLimits } from "../partial-work.ts";
import type { Box, Pixels } from "../types.ts";
import { SAME_FACE_IOU, wholeView } from "./detect.ts";
import {
  type Candidate,
  candidatesFromPass,
  chooseMesh,
  continuePass,
  isComplete,
  MIN_PRESENCE,
  packPass,
  startPass,
  unpackPass,
} from "./detection-pass.ts";
import { type Mesh, refineMeshes } from "./mesh.ts";

/** A face with its mesh. */
export interface FoundFace {
  readonly box: Box;
  /** Detection score, 0 to 1; missing if the caller gave the box. */
  readonly score?: number;
  readonly mesh: Mesh;
}

/** From this score on, a detection is a face even if the mesh network sees none, as with profiles and covered faces. */
export const CONFIDENT_SCORE = 0.6;

/** Thresholds of the second pass. They are stricter because enlarged texture resembles faces more often. */
const SECOND_PASS = { minScore: 0.3, minPresence: 0.8 };

/** A face narrower than this share of the photo's longer side may have neighbours too small for the first pass. */
const SMALL_FACE = 1 / 14;
const SMALL_FACE_MIN_SCORE = 0.3;

/** Side of a tile in relation to the smallest face expected in it, and the limits of that side in pixels. */
const TILE_TO_FACE = 10;
const TILE_SIDE = { min: 256, max: 427 };

/** Photos with a longer side above this get proportionally larger tiles, so that the number of tiles stays the same. */
const TILED_SIDE = 1024;

/** Distance of two tiles in relation to their side. A face on the border of one tile is whole in the next. */
const TILE_STEP = 0.8;

/** Size of the letterbox in relation to the photo when looking for a face that fills the photo. */
const CLOSE_UP_MARGIN = 2;

/** Two meshes are the same face if their intersection is more than this share of the smaller one. */
const NESTED_FACE_SHARE = 0.5;

/** Below this presence a mesh does not lie on a face at all. */
const MESHLESS_PRESENCE = 0.01;

/** A face whose mesh is not refined yet. */
export type UnrefinedFace = Pick<Candidate, "box" | "score" | "mesh">;

/** The faces of a completed search, or the checkpoint of one to be resumed. */
export type SearchResult =
  | { readonly found: readonly UnrefinedFace[] }
  | { readonly checkpoint: SearchCheckpoint };

type SearchCheckpoint = Extract<Checkpoint, { phase: "search" }>;

/** Finds every face of an image, in no particular order. */
export async function findFaces(
  networks: Networks,
  image: Pixels,
  signal?: AbortSignal,
): Promise<FoundFace[]> {
  const search = await continueSearch(networks, image, undefined, NO_PART_LIMITS, signal);
  return refineFaces(networks, image, "found" in search ? search.found : []);
}

/**
 * Does one part of the search for faces, from the start or from a checkpoint. The first pass looks at the whole image.
 * The second pass looks at tiles if the first suggests small faces, or at tiles and a wider frame if it found none.
 */
export async function continueSearch(
  networks: Networks,
  image: Pixels,
  checkpoint: SearchCheckpoint | undefined,
  limits: PartLimits,
  signal?: AbortSignal,
): Promise<SearchResult> {
  const firstStarted = checkpoint
    ? unpackPass(checkpoint.firstPass)
    : await startPass(networks, image, [wholeView(image)]);
  signal?.throwIfAborted();
  const first = await continuePass(networks, image, firstStarted, limits, signal);
  if (!isComplete(first)) return { checkpoint: { phase: "search", firstPass: packPass(first) } };
  const candidates = candidatesFromPass(first);
  const faces = candidates.filter(isFace);

  const secondStarted = checkpoint?.secondPass
    ? unpackPass(checkpoint.secondPass)
    : await startPass(networks, image, chooseFurtherViews(image, candidates, faces));
  signal?.throwIfAborted();
  const second = await continuePass(networks, image, secondStarted, limits, signal);
  if (!isComplete(second))
    return { checkpoint: { phase: "search", firstPass: packPass(first), secondPass: packPass(second) } };
  const found = removeDuplicates([...faces, ...candidatesFromPass(second).filter(isFaceInSecondPass)]);
  return { found: dropMeshless(found) };
}

/** Refines the meshes of faces and places the faces by them. */
export async function refineFaces(
  networks: Networks,
  image: Pixels,
  faces: readonly UnrefinedFace[],
): Promise<FoundFace[]> {
  const meshes = await refineMeshes(
    networks.mesh,
    image,
    faces.map(({ mesh }) => mesh),
  );
  return faces.map(({ box, score, mesh }, i) => placeFace(box, score, chooseMesh(mesh, meshes[i]!)));
}

/** Places a face at its mesh, or at its detection if the mesh does not lie on a face. */
export function placeFace(box: Box, score: number, mesh: Mesh): FoundFace {
  return { box: mesh.presence >= MIN_PRESENCE ? boundingBox(mesh.points) : box, score, mesh };
}

function isFace({ score, mesh }: Candidate): boolean {
  return score >= CONFIDENT_SCORE || mesh.presence >= MIN_PRESENCE;
}

function isFaceInSecondPass({ score, mesh }: Candidate): boolean {
  return score >= SECOND_PASS.minScore && mesh.presence >= SECOND_PASS.minPresence;
}

/**
 * Drops detections to which no mesh fits, such as a pair of hands, if a face with a mesh is at least as large. Without
 * such a face they stay: most are full profiles, which the detector recognizes and the mesh network does not.
 */
export function dropMeshless(candidates: readonly Candidate[]): Candidate[] {
  const sides = candidates
    .filter(({ mesh }) => mesh.presence >= MIN_PRESENCE)
    .map(({ box }) => longerSide(box));
  const largestSide = Math.max(0, ...sides);
  return candidates.filter(
    ({ box, mesh }) => mesh.presence >= MESHLESS_PRESENCE || longerSide(box) > largestSide,
  );
}

function chooseFurtherViews(
  image: Pixels,
  candidates: readonly Candidate[],
  faces: readonly Candidate[],
): Square[] {
  const imageSide = Math.max(image.width, image.height);
  const scale = Math.max(1, imageSide / TILED_SIDE);
  const [minSide, maxSide] = [TILE_SIDE.min * scale, TILE_SIDE.max * scale];
  if (faces.length === 0) return [wholeView(image, CLOSE_UP_MARGIN), ...createTiles(image, maxSide)];
  const faceSides = candidates
    .filter((candidate) => candidate.score >= SMALL_FACE_MIN_SCORE || isFace(candidate))
    .map(({ box }) => longerSide(box));
  const smallest = Math.min(...faceSides);
  if (smallest >= SMALL_FACE * imageSide) return [];
  return createTiles(image, Math.min(maxSide, Math.max(minSide, smallest * TILE_TO_FACE)));
}

/** Covers an image with overlapping squares. Returns none if one would cover it all. */
function createTiles(image: Pixels, side: number): Square[] {
  const { width, height } = image;
  if (Math.max(width, height) <= side) return [];
  return tileCenters(height, side).flatMap((y) =>
    tileCenters(width, side).map((x) => ({ center: { x, y }, side, radians: 0 })),
  );
}

function tileCenters(length: number, side: number): number[] {
  const room = length - side;
  if (room <= 0) return [length / 2];
  const steps = Math.ceil(room / (side * TILE_STEP));
  return Array.from({ length: steps + 1 }, (_, i) => side / 2 + (room * i) / steps);
}

interface BoundedCandidate {
  readonly candidate: Candidate;
  /** Bounding box of the mesh. */
  readonly bounds: Box;
}

/** Keeps the best detection of each face. Neighbouring tiles show a face twice, or a part of it beside the whole. */
function removeDuplicates(candidates: readonly Candidate[]): Candidate[] {
  const kept: BoundedCandidate[] = [];
  for (const candidate of candidates.toSorted((one, other) => other.score - one.score)) {
    const bounded = { candidate, bounds: boundingBox(candidate.mesh.points) };
    if (!kept.some((other) => isSameFace(bounded, other))) kept.push(bounded);
  }
  return kept.map(({ candidate }) => candidate);
}

/** Two candidates are the same face if their boxes overlap, or if one mesh lies within the other. */
function isSameFace(one: BoundedCandidate, other: BoundedCandidate): boolean {
  const intersection = boxArea(intersectBoxes(one.bounds, other.bounds));
  const nestedShare = intersection / Math.min(boxArea(one.bounds), boxArea(other.bounds));
  return nestedShare > NESTED_FACE_SHARE || iou(one.candidate.box, other.candidate.box) > SAME_FACE_IOU;
}
