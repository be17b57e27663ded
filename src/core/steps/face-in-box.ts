import { boundingBox, boxCenter, iou, longerSide } from "../geometry.ts";
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

/** Fits a mesh to the face that fills a box, if there is one. */
export async function fitFaceToBox(
  networks: Networks,
  image: Pixels,
  box: Box,
  signal?: AbortSignal,
): Promise<FoundFace | undefined> {
  const squares = BOX_SCALES.map((scale) => squareFor(boxCenter(box), longerSide(box) * scale));
  const meshes = await fitMeshes(networks.mesh, image, squares);
  signal?.throwIfAborted();
  const best = meshes.find(({ presence }) => presence >= MIN_PRESENCE) ?? meshes[0]!;
  return convergeMesh(networks, image, best, signal);
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
  const [mesh] = await fitMeshes(networks.mesh, image, [square]);
  signal?.throwIfAborted();
  return convergeMesh(networks, image, mesh!, signal);
}

/** Repeats the fit until it converges, then refines it. Returns undefined if the mesh does not end up on a face. */
async function convergeMesh(
  networks: Networks,
  image: Pixels,
  first: Mesh,
  signal?: AbortSignal,
): Promise<FoundFace | undefined> {
  let mesh = first;
  for (let fits = 0, overlap = 0; fits < MAX_FITS && overlap < CONVERGED_IOU; fits++) {
    const [next] = await fitMeshes(networks.mesh, image, [squareAround(mesh)]);
    signal?.throwIfAborted();
    overlap = iou(boundingBox(mesh.points), boundingBox(next!.points));
    mesh = next!;
  }
  const [refined] = await refineMeshes(networks.mesh, image, [mesh]);
  signal?.throwIfAborted();
  return refined!.presence >= MIN_PRESENCE
    ? { box: boundingBox(refined!.points), mesh: refined! }
    : undefined;
}
