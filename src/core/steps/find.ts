import {
  boundingBox,
  boxArea,
  boxCenter,
  intersectBoxes,
  iou,
  longerSide,
  type Square,
} from "../geometry.ts";
import type { Networks } from "../networks.ts";
import {
  type Checkpoint,
  NO_PART_LIMITS,
  type PackedPass,
  type PartLimits,
  packMesh,
  unpackMesh,
} from "../partial-work.ts";
import type { Box, Pixels } from "../types.ts";
import { type Detection, detect, SAME_FACE_OVERLAP, wholeView } from "./detect.ts";
import { fitMeshes, type Mesh, refineMeshes, squareAround, squareFor } from "./mesh.ts";

/** A face that was found, with its surface. */
export interface FoundFace {
  readonly box: Box;
  /** The detector's score, 0 to 1; a face that the caller pointed at has none. */
  readonly score?: number;
  readonly mesh: Mesh;
}

/** From this score on a detection is a face even where the mesh is not sure: profiles, covered faces. */
export const SURE_SCORE = 0.6;

/** From this probability on the mesh lies on a face. */
export const LEAST_PRESENCE = 0.5;

/** What a second look must reach: enlarged texture resembles faces more often. */
const SECOND_LOOK = { score: 0.3, presence: 0.8 };

/** A face narrower than this part of the photo's longer side may have neighbours that are too small to see at once. */
const SMALL_FACE = 1 / 14;
const SMALL_FACE_SCORE = 0.3;

/** A tile is this many times as large as the smallest face to be seen in it, within limits in pixels. */
const TILE_TO_FACE = 10;
const TILE_SIDE = { least: 256, most: 427 };

/** The limits hold for photos up to this longer side, and grow with larger ones, so that the number of tiles does not. */
const TILED_SIDE = 1024;

/** Distance of two tiles to their side: a face on the border of one is whole in the next. */
const TILE_STEP = 0.8;

/** Black around the photo that lets the detector see a face that fills it. */
const CLOSE_UP_MARGIN = 2;

/** Two meshes of which one shares more than this part of its own area are one face. */
const NESTED_FACE_OVERLAP = 0.5;

/** A look follows up the best detections only. There are more in a crowd of far more faces than are processed. */
const MOST_DETECTIONS = 512;

/** A detection with the mesh that was laid on it. */
export interface Candidate extends Detection {
  readonly mesh: Mesh;
}

/**
 * Finds every face of an image, in no particular order. A first look takes the whole image; a
 * second takes tiles where the first suggests small faces, and tiles and a wider frame where it
 * found nothing.
 */
export async function findFaces(
  networks: Networks,
  image: Pixels,
  signal?: AbortSignal,
): Promise<FoundFace[]> {
  const search = await continueSearch(networks, image, undefined, NO_PART_LIMITS, signal);
  return refineFaces(networks, image, "found" in search ? search.found : []);
}

/** A search that is over, with a mesh that is not refined yet for each face, or one that goes on in the next turn. */
export type SearchResult =
  | { readonly found: readonly UnrefinedFace[] }
  | { readonly checkpoint: SearchCheckpoint };

type SearchCheckpoint = Extract<Checkpoint, { phase: "search" }>;

/** A face whose place and mesh are known roughly. */
export type UnrefinedFace = Pick<Candidate, "box" | "score" | "mesh">;

/** Looks for faces for one turn, from the beginning or from where the search stood after the last turn. */
export async function continueSearch(
  networks: Networks,
  image: Pixels,
  checkpoint: SearchCheckpoint | undefined,
  limits: PartLimits,
  signal?: AbortSignal,
): Promise<SearchResult> {
  const beginning = checkpoint
    ? unpackLook(checkpoint.firstPass)
    : await beginLook(networks, image, [wholeView(image)]);
  signal?.throwIfAborted();
  const first = await continueLook(networks, image, beginning, limits, signal);
  if (!isOver(first)) return { checkpoint: { phase: "search", firstPass: packLook(first) } };
  const candidates = candidatesOf(first);
  const faces = candidates.filter(isFace);

  const going = checkpoint?.secondPass
    ? unpackLook(checkpoint.secondPass)
    : await beginLook(networks, image, furtherViews(image, candidates, faces));
  signal?.throwIfAborted();
  const second = await continueLook(networks, image, going, limits, signal);
  if (!isOver(second))
    return { checkpoint: { phase: "search", firstPass: packLook(first), secondPass: packLook(second) } };
  return { found: distinct([...faces, ...candidatesOf(second).filter(isFaceAtSecondLook)]) };
}

/** Refines the meshes of faces that were found, and places the faces by them. */
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
  return faces.map(({ box, score, mesh }, i) => placedFace(box, score, betterOf(mesh, meshes[i]!)));
}

/** What a look at some views shows, faces or not. */
export async function look(
  networks: Networks,
  image: Pixels,
  views: readonly Square[],
  signal?: AbortSignal,
): Promise<Candidate[]> {
  const begun = await beginLook(networks, image, views);
  signal?.throwIfAborted();
  return candidatesOf(await continueLook(networks, image, begun, NO_PART_LIMITS, signal));
}

/** A look at some views of an image: what was detected, and the meshes of the first detections. */
interface Look {
  readonly detections: readonly Detection[];
  readonly meshes: readonly Mesh[];
}

async function beginLook(networks: Networks, image: Pixels, views: readonly Square[]): Promise<Look> {
  if (views.length === 0) return { detections: [], meshes: [] };
  const detections = await detect(networks.detect, image, views);
  return { detections: detections.slice(0, MOST_DETECTIONS), meshes: [] };
}

/** Lays the meshes of the next detections. */
async function continueLook(
  networks: Networks,
  image: Pixels,
  { detections, meshes }: Look,
  limits: PartLimits,
  signal?: AbortSignal,
): Promise<Look> {
  const next = detections.slice(meshes.length, meshes.length + limits.maxDetections);
  const squares = next.map(({ box, eyes }) => squareFor(boxCenter(box), longerSide(box), eyes));
  const first = await fitMeshes(networks.mesh, image, squares);
  signal?.throwIfAborted();
  const second = await fitMeshes(networks.mesh, image, first.map(squareAround));
  signal?.throwIfAborted();
  return { detections, meshes: [...meshes, ...first.map((mesh, i) => betterOf(mesh, second[i]!))] };
}

function isOver({ detections, meshes }: Look): boolean {
  return meshes.length === detections.length;
}

function candidatesOf({ detections, meshes }: Look): Candidate[] {
  return detections.map((detection, i) => ({ ...detection, mesh: meshes[i]! }));
}

function packLook({ detections, meshes }: Look): PackedPass {
  return { detections, meshes: meshes.map(packMesh) };
}

function unpackLook({ detections, meshes }: PackedPass): Look {
  return { detections, meshes: meshes.map(unpackMesh) };
}

/** The later of two meshes, unless it slid off a face that the earlier one was on. */
function betterOf(earlier: Mesh, later: Mesh): Mesh {
  return earlier.presence >= LEAST_PRESENCE && later.presence < LEAST_PRESENCE ? earlier : later;
}

/** A face is where its mesh is; where the mesh is not sure, it is where the detector saw it. */
export function placedFace(box: Box, score: number, mesh: Mesh): FoundFace {
  return { box: mesh.presence >= LEAST_PRESENCE ? boundingBox(mesh.points) : box, score, mesh };
}

function isFace({ score, mesh }: Candidate): boolean {
  return score >= SURE_SCORE || mesh.presence >= LEAST_PRESENCE;
}

function isFaceAtSecondLook({ score, mesh }: Candidate): boolean {
  return score >= SECOND_LOOK.score && mesh.presence >= SECOND_LOOK.presence;
}

function furtherViews(
  image: Pixels,
  candidates: readonly Candidate[],
  faces: readonly Candidate[],
): Square[] {
  const longer = Math.max(image.width, image.height);
  const unit = Math.max(1, longer / TILED_SIDE);
  const [least, most] = [TILE_SIDE.least * unit, TILE_SIDE.most * unit];
  if (faces.length === 0) return [wholeView(image, CLOSE_UP_MARGIN), ...tilesOf(image, most)];
  const hints = candidates
    .filter((candidate) => candidate.score >= SMALL_FACE_SCORE || isFace(candidate))
    .map(({ box }) => longerSide(box));
  const smallest = Math.min(...hints);
  if (smallest >= SMALL_FACE * longer) return [];
  return tilesOf(image, Math.min(most, Math.max(least, smallest * TILE_TO_FACE)));
}

/** Overlapping squares that cover the image; none if it is no larger than one. */
function tilesOf(image: Pixels, side: number): Square[] {
  const { width, height } = image;
  if (Math.max(width, height) <= side) return [];
  return centersAlong(height, side).flatMap((y) =>
    centersAlong(width, side).map((x) => ({ center: { x, y }, side, radians: 0 })),
  );
}

function centersAlong(length: number, side: number): number[] {
  const room = length - side;
  if (room <= 0) return [length / 2];
  const steps = Math.ceil(room / (side * TILE_STEP));
  return Array.from({ length: steps + 1 }, (_, i) => side / 2 + (room * i) / steps);
}

/** Each face once, the best detection of it: tiles see a face twice, or half of it beside the whole. */
function distinct(candidates: readonly Candidate[]): Candidate[] {
  const kept: Bounded[] = [];
  for (const candidate of candidates.toSorted((one, other) => other.score - one.score)) {
    const bounds = boundingBox(candidate.mesh.points);
    if (!kept.some((other) => isSameFace({ candidate, bounds }, other))) kept.push({ candidate, bounds });
  }
  return kept.map(({ candidate }) => candidate);
}

interface Bounded {
  readonly candidate: Candidate;
  /** Of the mesh. */
  readonly bounds: Box;
}

/** Boxes that overlap are one face, and so are meshes of which one lies in the other: a part beside the whole. */
function isSameFace(
  { candidate: one, bounds: here }: Bounded,
  { candidate: other, bounds: there }: Bounded,
): boolean {
  const nested = boxArea(intersectBoxes(here, there)) / Math.min(boxArea(here), boxArea(there));
  return nested > NESTED_FACE_OVERLAP || iou(one.box, other.box) > SAME_FACE_OVERLAP;
}
