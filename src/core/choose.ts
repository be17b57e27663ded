import type { Pyramid } from "./crop.ts";
import { detect } from "./detect.ts";
import { FaceError } from "./face-error.ts";
import { type FoundFace, findFaces, LEAST_PRESENCE, SURE_SCORE } from "./find.ts";
import { areaOf, boundsOf, centerOf, intersectionOf, longerSideOf, overlapOf } from "./geometry.ts";
import { fitMeshes, type Mesh, refineMeshes, squareFor } from "./mesh.ts";
import type { Networks } from "./networks.ts";
import type { Box } from "./types.ts";

/** Which faces of an image are meant. */
export interface Selection {
  /** Boxes, each around one face; without any, every face that is found. */
  readonly boxes?: readonly Box[] | undefined;
  /** `false` never detects: each box, or without boxes the whole image, is taken as one face. */
  readonly detect?: boolean | undefined;
}

/** A caller's box may be tight around a face or wide around a head: the mesh is tried at each size. */
const BOX_SCALES = [1, 0.7];

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
  image: Pyramid,
  { boxes = [], detect: mayDetect = true }: Selection,
  signal?: AbortSignal,
): Promise<FoundFace[]> {
  const frame: Box = { x1: 0, y1: 0, x2: image.size.width, y2: image.size.height };
  if (boxes.length === 0 && mayDetect) return inOrder(await findFaces(networks, image, signal), frame);
  if (boxes.length === 0) {
    const face = await faceOfBox(networks, image, frame);
    return face ? [face] : [];
  }
  const faces: FoundFace[] = [];
  for (const box of boxes.map((box) => clipped(box, frame))) {
    const face =
      (await faceOfBox(networks, image, box, signal)) ??
      (mayDetect ? await faceNearBox(networks, image, box, signal) : undefined);
    if (!face) throw new FaceError("noFaceInBox", "No face was found in the box.", { box });
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

function clipped(box: Box, frame: Box): Box {
  const inside = intersectionOf(box, frame);
  if (!(areaOf(box) > 0)) throw new FaceError("badBox", "The box is empty.", { box });
  if (!(areaOf(inside) > 0)) throw new FaceError("badBox", "The box lies outside the image.", { box });
  return inside;
}

/** The face that fills a box, if the mesh sees one. */
async function faceOfBox(
  networks: Networks,
  image: Pyramid,
  box: Box,
  signal?: AbortSignal,
): Promise<FoundFace | undefined> {
  const squares = BOX_SCALES.map((scale) => squareFor(centerOf(box), longerSideOf(box) * scale));
  const tried = await fitMeshes(networks.mesh, image, squares);
  signal?.throwIfAborted();
  const best = tried.reduce((one, other) => (other.presence > one.presence ? other : one));
  return refined(networks, image, best, signal);
}

/** The face that a loose box means, found by the detector. */
async function faceNearBox(
  networks: Networks,
  image: Pyramid,
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

/** Lays a mesh twice more, as the first guess came from a box and not from eyes. */
async function refined(
  networks: Networks,
  image: Pyramid,
  rough: Mesh,
  signal?: AbortSignal,
): Promise<FoundFace | undefined> {
  const [better] = await refineMeshes(networks.mesh, image, [rough]);
  signal?.throwIfAborted();
  const [mesh] = await refineMeshes(networks.mesh, image, [better!]);
  signal?.throwIfAborted();
  return mesh!.presence >= LEAST_PRESENCE ? { box: boundsOf(mesh!.points), mesh: mesh! } : undefined;
}
