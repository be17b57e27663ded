import { FaceError } from "../errors.ts";
import { boundingBox, boxArea, boxCenter, intersectBoxes, iou, longerSide, scaleBox } from "../geometry.ts";
import type { Networks } from "../networks.ts";
import { type Checkpoint, type PartLimits, packMesh, unpackMesh } from "../partial-work.ts";
import type { Box, Photo, Pixels } from "../types.ts";
import { detect } from "./detect.ts";
import {
  continueSearch,
  type FoundFace,
  LEAST_PRESENCE,
  placedFace,
  refineFaces,
  SURE_SCORE,
  type UnrefinedFace,
} from "./find.ts";
import { fitMeshes, type Mesh, refineMeshes, squareAround, squareFor } from "./mesh.ts";
import { type Rank, sortByRank } from "./rank.ts";
import { MAX_FACES, type Selection } from "./selection.ts";

/** A caller's box may be tight around a face or wide around a head: the mesh is tried as drawn, then closer. */
const BOX_SCALES = [1, 0.7];

/** A mesh lies still when it overlaps where it lay before by this much; it is given so many passes. */
const STILL_OVERLAP = 0.9;
const MOST_PASSES = 6;

/** Where the mesh finds no face in a box, one is looked for in a region this much larger. */
const WIDER_REGION = 1.6;

/** A face that is meant, and its place in the order of all. */
export interface ChosenFace extends FoundFace {
  readonly rank: Rank;
}

/** What a turn of choosing gave. */
export interface ChosenFaces {
  /** The faces of this turn. */
  readonly faces: readonly ChosenFace[];
  /** Number of faces in the image, also of those that are too many to be processed; 0 while they are searched for. */
  readonly facesFound: number;
  /** Where to continue; missing if this was the last turn. */
  readonly checkpoint?: Checkpoint;
}

/** Every face in a caller's box is as prominent as any other: they stay in the order of the boxes. */
const IN_BOX: Rank = { isConfident: true, prominence: 0 };

/**
 * Gives the faces that are meant for one turn, from the beginning or from where the work stood after the last turn:
 * those in the caller's boxes, in their order, or all that are found, of which the rank tells the order.
 *
 * Throws FaceError `badBox` for a box that is empty or outside, before any face is looked for, and `noFaceInBox` for
 * the first box without a face.
 */
export async function chooseFaces(
  networks: Networks,
  photo: Photo,
  selection: Selection,
  { checkpoint, limits }: { readonly checkpoint?: Checkpoint | undefined; readonly limits: PartLimits },
  signal?: AbortSignal,
): Promise<ChosenFaces> {
  const { boxes = [], detect: mayDetect = true } = selection;
  const { pixels: image } = photo;
  const frame: Box = { x1: 0, y1: 0, x2: image.width, y2: image.height };
  if (boxes.length > 0) {
    const done = checkpoint?.phase === "boxes" ? checkpoint.boxesDone : 0;
    return facesInBoxes(networks, photo, { boxes, detect: mayDetect }, { done, limits }, signal);
  }
  if (!mayDetect) {
    const face = await faceOfBox(networks, image, frame, signal);
    return face ? { faces: [{ ...face, rank: IN_BOX }], facesFound: 1 } : { faces: [], facesFound: 0 };
  }
  const found = await unrefinedFaces(networks, image, checkpoint, limits, signal);
  if ("checkpoint" in found) return { faces: [], facesFound: 0, checkpoint: found.checkpoint };
  const { left, facesFound } = found;
  const faces = await refineFaces(networks, image, left.slice(0, limits.maxFaces));
  const ranked = faces.map((face) => ({ ...face, rank: rankOf(face, frame) }));
  const later = left
    .slice(limits.maxFaces)
    .map(({ box, score, mesh }) => ({ box, score, mesh: packMesh(mesh) }));
  return {
    faces: ranked,
    facesFound,
    ...(later.length > 0 && { checkpoint: { phase: "faces", facesFound, remaining: later } }),
  };
}

/** The faces that were found and are not refined, the most prominent ones if there are too many to be processed. */
async function unrefinedFaces(
  networks: Networks,
  image: Pixels,
  checkpoint: Checkpoint | undefined,
  limits: PartLimits,
  signal?: AbortSignal,
): Promise<{ left: readonly UnrefinedFace[]; facesFound: number } | { checkpoint: Checkpoint }> {
  if (checkpoint?.phase === "faces") {
    const left = checkpoint.remaining.map(({ mesh, ...face }) => ({ ...face, mesh: unpackMesh(mesh) }));
    return { left, facesFound: checkpoint.facesFound };
  }
  const search = checkpoint?.phase === "search" ? checkpoint : undefined;
  const result = await continueSearch(networks, image, search, limits, signal);
  if ("checkpoint" in result) return result;
  const facesFound = result.found.length;
  return { left: facesFound > MAX_FACES ? mostProminent(result.found, image) : result.found, facesFound };
}

function mostProminent(faces: readonly UnrefinedFace[], { width, height }: Pixels): UnrefinedFace[] {
  const frame: Box = { x1: 0, y1: 0, x2: width, y2: height };
  const ranked = faces.map((face) => {
    const { box, score, mesh } = face;
    return { face, rank: rankOf(placedFace(box, score, mesh), frame) };
  });
  return sortByRank(ranked)
    .slice(0, MAX_FACES)
    .map(({ face }) => face);
}

/** The faces in the next boxes. */
async function facesInBoxes(
  networks: Networks,
  photo: Photo,
  { boxes, detect: mayDetect }: { readonly boxes: readonly Box[]; readonly detect: boolean },
  { done, limits }: { readonly done: number; readonly limits: PartLimits },
  signal?: AbortSignal,
): Promise<ChosenFaces> {
  const { pixels: image } = photo;
  const places = boxes.map((box) => placeOf(box, photo));
  const end = Math.min(boxes.length, done + limits.maxFaces);
  const faces: ChosenFace[] = [];
  for (const [i, place] of places.slice(done, end).entries()) {
    const face =
      (await faceOfBox(networks, image, place, signal)) ??
      (mayDetect ? await faceNearBox(networks, image, place, signal) : undefined);
    if (!face) throw noFaceIn(boxes[done + i]!);
    faces.push({ ...face, rank: IN_BOX });
  }
  return {
    faces,
    facesFound: boxes.length,
    ...(end < boxes.length && { checkpoint: { phase: "boxes", boxesDone: end } }),
  };
}

function rankOf({ box, score = 1 }: FoundFace, frame: Box): Rank {
  return { isConfident: score >= SURE_SCORE, prominence: prominenceOf(box, frame) };
}

/** Size of a face as it counts for the order: what lies outside the photo counts against it. */
function prominenceOf(box: Box, frame: Box): number {
  return boxArea(intersectBoxes(box, frame)) ** 2 / boxArea(box);
}

/** Where a caller's box lies in the pixels that are worked on, without what is outside the image. */
function placeOf(box: Box, { pixels, width, height }: Photo): Box {
  const frame: Box = { x1: 0, y1: 0, x2: pixels.width, y2: pixels.height };
  const place = scaleBox(box, pixels.width / width, pixels.height / height);
  const inside = intersectBoxes(place, frame);
  if (!(boxArea(place) > 0)) throw new FaceError("badBox", `The box ${textOf(box)} is empty.`, { box });
  if (!(boxArea(inside) > 0))
    throw new FaceError("badBox", `The box ${textOf(box)} lies outside the image.`, { box });
  return inside;
}

function noFaceIn(box: Box): FaceError {
  return new FaceError("noFaceInBox", `No face was found in the box ${textOf(box)}.`, { box });
}

function textOf({ x1, y1, x2, y2 }: Box): string {
  return `from ${x1} ${y1} to ${x2} ${y2}`;
}

/** The face that fills a box, if the mesh sees one. */
async function faceOfBox(
  networks: Networks,
  image: Pixels,
  box: Box,
  signal?: AbortSignal,
): Promise<FoundFace | undefined> {
  const squares = BOX_SCALES.map((scale) => squareFor(boxCenter(box), longerSide(box) * scale));
  const tried = await fitMeshes(networks.mesh, image, squares);
  signal?.throwIfAborted();
  const best = tried.find(({ presence }) => presence >= LEAST_PRESENCE) ?? tried[0]!;
  return refined(networks, image, best, signal);
}

/** The face that a loose box means, found by the detector. */
async function faceNearBox(
  networks: Networks,
  image: Pixels,
  box: Box,
  signal?: AbortSignal,
): Promise<FoundFace | undefined> {
  const region = { center: boxCenter(box), side: longerSide(box) * WIDER_REGION, radians: 0 };
  const detections = await detect(networks.detect, image, [region]);
  signal?.throwIfAborted();
  const [best] = detections
    .filter((detection) => iou(detection.box, box) > 0)
    .toSorted((one, other) => iou(other.box, box) - iou(one.box, box));
  if (!best) return undefined;
  const square = squareFor(boxCenter(best.box), longerSide(best.box), best.eyes);
  const [rough] = await fitMeshes(networks.mesh, image, [square]);
  signal?.throwIfAborted();
  return refined(networks, image, rough!, signal);
}

/** Lays a mesh again until it lies still, as the first guess came from a box, and once more for precision. */
async function refined(
  networks: Networks,
  image: Pixels,
  guess: Mesh,
  signal?: AbortSignal,
): Promise<FoundFace | undefined> {
  let settled = guess;
  for (let pass = 0, stillness = 0; pass < MOST_PASSES && stillness < STILL_OVERLAP; pass++) {
    const [next] = await fitMeshes(networks.mesh, image, [squareAround(settled)]);
    signal?.throwIfAborted();
    stillness = iou(boundingBox(settled.points), boundingBox(next!.points));
    settled = next!;
  }
  const [mesh] = await refineMeshes(networks.mesh, image, [settled]);
  signal?.throwIfAborted();
  return mesh!.presence >= LEAST_PRESENCE ? { box: boundingBox(mesh!.points), mesh: mesh! } : undefined;
}
