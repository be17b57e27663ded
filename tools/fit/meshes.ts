import { readFileSync } from "node:fs";
import { boundsOf, overlapOf } from "../../src/core/geometry.ts";
import { decode } from "../../src/core/image/decode.ts";
import { DEFAULT_LIMITS } from "../../src/core/limits.ts";
import { openNetworks } from "../../src/core/networks.ts";
import { findFaces } from "../../src/core/steps/find.ts";
import { measurePose } from "../../src/core/steps/pose.ts";
import type { Point } from "../../src/core/types.ts";
import { DEFAULT_MODELS_DIR } from "../../src/model-manifest.ts";
import { type Annotated, halfOf } from "../support/datasets.ts";
import { mapWithProgress } from "../support/progress.ts";

/** An annotated face and the mesh that was laid on it. */
export interface MeshedFace {
  readonly annotated: readonly Point[];
  readonly mesh: readonly Point[];
  readonly yawDegrees: number;
}

/** Lays the mesh on the annotated faces of the half that is for fitting; photographs at full size only. */
export async function meshedFacesToFit(photos: readonly Annotated[]): Promise<MeshedFace[]> {
  const networks = await openNetworks(DEFAULT_MODELS_DIR);
  const toFit = photos.filter(({ file }) => halfOf(file) === "fit");
  const faces = await mapWithProgress("meshes", toFit, async ({ file, points }) => {
    const photo = await decode(readFileSync(file), DEFAULT_LIMITS);
    const found = await findFaces(networks, photo.pixels);
    const place = boundsOf(points);
    const [best] = found.toSorted((one, other) => overlapOf(other.box, place) - overlapOf(one.box, place));
    if (!best || photo.pixels.width !== photo.width) return [];
    const { points: mesh } = best.mesh;
    return [{ annotated: points, mesh, yawDegrees: measurePose(mesh).yawDegrees }];
  });
  await networks.close();
  return faces.flat();
}
