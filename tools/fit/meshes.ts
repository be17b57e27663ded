import { readFileSync } from "node:fs";
import type { Point } from "../../src/core/geometry.ts";
import { decode } from "../../src/core/image/decode.ts";
import { DEFAULT_LIMITS } from "../../src/core/image/limits.ts";
import { DEFAULT_MODELS_DIR } from "../../src/core/index.ts";
import { openNetworks } from "../../src/core/networks.ts";
import { findFaces } from "../../src/core/steps/find.ts";
import { lookAgain } from "../../src/core/steps/look-again.ts";
import { fitMeshes, refineMeshes } from "../../src/core/steps/mesh.ts";
import { measurePose } from "../../src/core/steps/pose.ts";
import { type AnnotatedPhoto, splitOfFile } from "../support/datasets.ts";
import { findAnnotatedFace } from "../support/evaluation.ts";
import { mapWithProgress } from "../support/progress.ts";

/** An annotated face and the mesh that the network found on it. */
export interface MeshedFace {
  readonly landmarks: readonly Point[];
  readonly mesh: readonly Point[];
  readonly yawDegrees: number;
}

/** Runs the mesh network on the annotated faces of the fitting split. Skips photos that decoding shrinks. */
export async function computeMeshes(photos: readonly AnnotatedPhoto[]): Promise<MeshedFace[]> {
  const networks = await openNetworks(DEFAULT_MODELS_DIR);
  const toFit = photos.filter(({ file }) => splitOfFile(file) === "fit");
  const faces = await mapWithProgress("meshes", toFit, async ({ file, landmarks }) => {
    const { pixels, width } = await decode(readFileSync(file), DEFAULT_LIMITS);
    const found = findAnnotatedFace(await findFaces(networks.detect, pixels, "all"), landmarks);
    if (!found || pixels.width !== width) return [];
    const [seen] = await lookAgain(networks.detect, pixels, [found.face]);
    const first = await fitMeshes(networks.mesh, pixels, [seen!]);
    const [mesh] = await refineMeshes(networks.mesh, pixels, first);
    return [{ landmarks, mesh: mesh!, yawDegrees: measurePose(mesh!).yawDegrees }];
  });
  await networks.close();
  return faces.flat();
}
