import { join } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { type Network, PACKAGE_ROOT } from "../../src/model-manifest.ts";
import { fetchSource } from "../../tools/models/fetch.ts";

/** The cache of published files that `npm run models` fills. A file is named by its digest. */
export const CACHE_DIR = join(PACKAGE_ROOT, "models/.cache");

/** The outputs of a network by name. */
export type Outputs = Readonly<Record<string, Float32Array>>;

/** Loads an ONNX file in onnxruntime, without its warnings. */
export async function openNetwork(bytes: Uint8Array): Promise<InferenceSession> {
  return InferenceSession.create(bytes, { logSeverityLevel: 3 });
}

/** Reads the published files of a network from the cache, or downloads them. */
export async function readPublished({ source }: Network): Promise<Uint8Array[]> {
  return fetchSource(source, CACHE_DIR, () => {});
}

/** Runs a network with one input, whose values have the given shape. */
export async function runNetwork(
  session: InferenceSession,
  shape: readonly number[],
  values: Float32Array,
): Promise<Outputs> {
  const results = await session.run({ [session.inputNames[0]!]: new Tensor("float32", values, shape) });
  return Object.fromEntries(Object.entries(results).map(([name, { data }]) => [name, data as Float32Array]));
}
