import { createUpload } from "../../photos/upload.ts";
import { callService } from "../../site/request.ts";
import { type Analysis, type AnalyzedFace, scaleAnalysis } from "../batch/analysis.ts";
import type { Face } from "../faces.ts";
import type { Photo } from "../photo.ts";
import type { State } from "../store.ts";

/** A face with its vector. */
export interface EmbeddedFace {
  readonly face: Face;
  readonly vector: readonly number[];
}

/** Returns every face of a photo with its vector, the most prominent first. Throws RequestError or PhotoError. */
export async function embedFaces(
  photo: Photo,
  { userId, mayScale }: Pick<State, "userId" | "mayScale">,
  signal: AbortSignal,
): Promise<readonly EmbeddedFace[]> {
  const upload = photo.url ? undefined : await createUpload(photo, mayScale);
  const body = new FormData();
  if (upload) body.append("image", upload.file, photo.name);
  else body.append("image", photo.url ?? "");
  const path = "v1/images:analyze?features=FEATURE_EMBEDDING&features=FEATURE_QUALITY";
  const { body: analysis } = await callService<Analysis>({ path, body, key: userId, signal });
  const scaled = upload ? scaleAnalysis(analysis, upload.scale) : analysis;
  return (scaled.faces ?? []).map((face) => ({
    face: faceFrom(face),
    vector: face.embedding!.values,
  }));
}

/** Converts a face of the typed API. Positions are whole pixels, as in the other operations. */
function faceFrom({ box: { x1 = 0, y1 = 0, x2 = 0, y2 = 0 }, quality, pose }: AnalyzedFace): Face {
  const rectangle = [Math.round(x1), Math.round(y1), Math.round(x2), Math.round(y2)] as const;
  return {
    rectangle,
    size: [rectangle[2] - rectangle[0], rectangle[3] - rectangle[1]],
    light: quality?.brightness ?? 0,
    yawDegrees: pose?.yaw ?? 0,
  };
}

/** Computes the Euclidean distance of two vectors. */
export function distanceOf(one: readonly number[], other: readonly number[]): number {
  return Math.hypot(...one.map((value, i) => value - other[i]!));
}
