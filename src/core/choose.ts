import { detect } from "./detect.ts";
import { FaceError } from "./face-error.ts";
import { type FoundFace, findFaces, LEAST_PRESENCE, SURE_SCORE } from "./find.ts";
import { areaOf, boundsOf, centerOf, intersectionOf, longerSideOf, overlapOf, scaleBox } from "./geometry.ts";
import { fitMeshes, type Mesh, refineMeshes, squareAround, squareFor } from "./mesh.ts";
import type { Networks } from "./networks.ts";
import type { Box, Photo, Pixels } from "./types.ts";

/** Which faces of an image are meant. */
export interface Selection {
  /** Boxes, each around one face, in pixels of the image as sent; without any, every face that is found. */
  readonly boxes?: readonly Box[] | undefined;
  /** `false` never detects: each box, or without boxes the whole image, is taken as one face. */
  readonly detect?: boolean | undefined;
}

/** A caller's box may be tight around a face or wide around a head: the mesh is tried as drawn, then closer. */
const BOX_SCALES = [1, 0.7];

/** A mesh lies still when it overlaps where it lay before by this much; it is given so many passes. */
const STILL_OVERLAP = 0.9;
const MOST_PASSES = 6;

/** Where the mesh finds no face in a box, one is looked for in a region this much larger. */
const WIDER_REGION = 1.6;

/**
 * Gives the faces that are meant: those in the caller's boxes, in their order, or all that are
 * found, sure ones before doubtful ones and then the larger first.
 *
 * Throws FaceError `badBox` for a box that is empty or outside, `noFaceInBox` for one without a face.
 */
export async function chooseFaces(
  networks: Networks,
  photo: Photo,
  { boxes = [], detect: mayDetect = true }: Selection,
  signal?: AbortSignal,
): Promise<FoundFace[]> {
  const image = photo.pixels;
  const frame: Box = { x1: 0, y1: 0, x2: image.width, y2: image.height };
  if (boxes.length === 0 && mayDetect) return inOrder(await findFaces(networks, image, signal), frame);
  if (boxes.length === 0) {
    const face = await faceOfBox(networks, image, frame, signal);
    return face ? [face] : [];
  }
  const places = boxes.map((box) => placeOf(box, photo, frame));
  const faces: FoundFace[] = [];
  for (const [i, place] of places.entries()) {
    const face =
      (await faceOfBox(networks, image, place, signal)) ??
      (mayDetect ? await faceNearBox(networks, image, place, signal) : undefined);
    if (!face) throw noFaceIn(boxes[i]!);
    faces.push(face);
  }
  return faces;
}

function inOrder(faces: readonly FoundFace[], frame: Box): FoundFace[] {
  const isSure = ({ score = 1 }: FoundFace) => score >= SURE_SCORE;
  return faces.toSorted(
    (one, other) =>
      Number(isSure(other)) - Number(isSure(one)) ||
      prominenceOf(other.box, frame) - prominenceOf(one.box, frame),
  );
}

/** Size of a face as it counts for the order: what lies outside the photo counts against it. */
function prominenceOf(box: Box, frame: Box): number {
  return areaOf(intersectionOf(box, frame)) ** 2 / areaOf(box);
}

/** Where a caller's box lies in the pixels that are worked on, without what is outside the image. */
function placeOf(box: Box, { pixels, width, height }: Photo, frame: Box): Box {
  const place = scaleBox(box, pixels.width / width, pixels.height / height);
  const inside = intersectionOf(place, frame);
  if (!(areaOf(place) > 0)) throw new FaceError("badBox", `The box ${textOf(box)} is empty.`, { box });
  if (!(areaOf(inside) > 0))
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
  const squares = BOX_SCALES.map((scale) => squareFor(centerOf(box), longerSideOf(box) * scale));
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
  const region = { center: centerOf(box), side: longerSideOf(box) * WIDER_REGION, radians: 0 };
  const detections = await detect(networks.detect, image, [region]);
  signal?.throwIfAborted();
  const [best] = detections
    .filter((detection) => overlapOf(detection.box, box) > 0)
    .toSorted((one, other) => overlapOf(other.box, box) - overlapOf(one.box, box));
  if (!best) return undefined;
  const square = squareFor(centerOf(best.box), longerSideOf(best.box), best.eyes);
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
    stillness = overlapOf(boundsOf(settled.points), boundsOf(next!.points));
    settled = next!;
  }
  const [mesh] = await refineMeshes(networks.mesh, image, [settled]);
  signal?.throwIfAborted();
  return mesh!.presence >= LEAST_PRESENCE ? { box: boundsOf(mesh!.points), mesh: mesh! } : undefined;
}
