import { boundingBox, boxCenter, iou, longerSide, type Square } from "../geometry.ts";
import type { Networks } from "../networks.ts";
import type { Box, Pixels } from "../types.ts";
import { detect } from "./detect.ts";
import { MIN_PRESENCE } from "./detection-pass.ts";
import type { FoundFace } from "./find.ts";
import { fitMeshes, type Mesh, refineMeshes, squareAround, squareFor } from "./mesh.ts";

/** Scales of a caller's box to try the mesh at: the box may be tight around a face or wide around a head. */
const BOX_SCALES = [1, 0.7];

/** A mesh has converged once its IoU with the previous fit reaches this value. */
const CONVERGED_IOU = 0.9;
const MAX_FITS = 6;

/** Size of the region to search for a face, in relation to a box in which the mesh network sees none. */
const SEARCH_REGION_SCALE = 1.6;

/** Minimum side, in decoded pixels, to fit a mesh to. The points of a smaller mesh coincide in rounding errors. */
const MIN_MESH_SIDE = 1;

/** Fits a mesh to the face that fills a box, if there is one. */
export async function fitFaceToBox(
  networks: Networks,
  image: Pixels,
  box: Box,
  signal?: AbortSignal,
): Promise<FoundFace | undefined> {
  const meshes = await fitMeshes(
    networks.mesh,
    image,
    BOX_SCALES.map((scale) => squareForBox(box, scale)),
  );
  signal?.throwIfAborted();
  const best = meshes.find(({ presence }) => presence >= MIN_PRESENCE) ?? meshes[0]!;
  const mesh = await convergeMesh(networks, image, best, signal);
  return isOnFace(mesh, box) ? { box: boundingBox(mesh.points), mesh } : undefined;
}

/**
 * Takes a box as one face, whatever it shows. Without a face in it, the mesh is the network's guess, `presence` is low,
 * and the face has the box of the caller.
 */
export async function takeBoxAsFace(
  networks: Networks,
  image: Pixels,
  box: Box,
  signal?: AbortSignal,
): Promise<FoundFace> {
  const found = await fitFaceToBox(networks, image, box, signal);
  if (found) return found;
  // The same fits as for a detection: a profile, which the mesh network does not recognize, keeps its vector. Further
  // fits would drift away from the box.
  const [first] = await fitMeshes(networks.mesh, image, [squareForBox(box)]);
  signal?.throwIfAborted();
  const [second] = await fitMeshes(networks.mesh, image, [squareAround(first!)]);
  signal?.throwIfAborted();
  const [mesh] = await refineMeshes(networks.mesh, image, [second!]);
  signal?.throwIfAborted();
  return { box: isOnFace(mesh!, box) ? boundingBox(mesh!.points) : box, mesh: mesh! };
}

/** Detects the face that a loose box is meant for: the one with the largest IoU. */
export async function detectFaceNearBox(
  networks: Networks,
  image: Pixels,
  box: Box,
  signal?: AbortSignal,
): Promise<FoundFace | undefined> {
  const region = { center: boxCenter(box), side: longerSide(box) * SEARCH_REGION_SCALE, radians: 0 };
  const detections = await detect(networks.detect, image, [region]);
  signal?.throwIfAborted();
  const [best] = detections
    .filter((detection) => iou(detection.box, box) > 0)
    .toSorted((one, other) => iou(other.box, box) - iou(one.box, box));
  if (!best) return undefined;
  const square = squareFor(boxCenter(best.box), longerSide(best.box), best.eyes);
  const [first] = await fitMeshes(networks.mesh, image, [square]);
  signal?.throwIfAborted();
  const mesh = await convergeMesh(networks, image, first!, signal);
  return isOnFace(mesh, box) ? { box: boundingBox(mesh.points), mesh } : undefined;
}

function squareForBox(box: Box, scale = 1): Square {
  return squareFor(boxCenter(box), Math.max(MIN_MESH_SIDE, longerSide(box) * scale));
}

/** Whether a mesh has ended up on a face, and this face is in the box. */
function isOnFace({ presence, points }: Mesh, box: Box): boolean {
  return presence >= MIN_PRESENCE && iou(boundingBox(points), box) > 0;
}

/** Repeats the fit until it converges, then refines it. */
async function convergeMesh(
  networks: Networks,
  image: Pixels,
  first: Mesh,
  signal?: AbortSignal,
): Promise<Mesh> {
  let mesh = first;
  for (let fits = 0, overlap = 0; fits < MAX_FITS && overlap < CONVERGED_IOU; fits++) {
    const [next] = await fitMeshes(networks.mesh, image, [squareAround(mesh)]);
    signal?.throwIfAborted();
    overlap = iou(boundingBox(mesh.points), boundingBox(next!.points));
    mesh = next!;
  }
  const [refined] = await refineMeshes(networks.mesh, image, [mesh]);
  signal?.throwIfAborted();
  return refined!;
}
