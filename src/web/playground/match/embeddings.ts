import { analyze, prepare } from "../calls.ts";
import type { Photo } from "../photo.ts";
import type { Face } from "../responses.ts";
import type { State } from "../store.ts";

/** Returns every face of a photo with its embedding, the most prominent first. Throws RequestError or PhotoError. */
export async function embedFaces(
  photo: Photo,
  { apiKey, mayScale }: Pick<State, "apiKey" | "mayScale">,
  signal: AbortSignal,
): Promise<readonly Face[]> {
  const sent = await prepare(photo, mayScale);
  const features = ["FEATURE_EMBEDDING", "FEATURE_QUALITY"];
  return (await analyze(sent, features, { key: apiKey, signal })).body.faces;
}

/** Computes the Euclidean distance of two faces by their embeddings. */
export function distanceOf({ embedding: one }: Face, { embedding: other }: Face): number {
  return Math.hypot(...one!.values.map((value, i) => value - other!.values[i]!));
}
