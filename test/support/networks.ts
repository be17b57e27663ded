import { InferenceSession, Tensor } from "onnxruntime-node";

/** The outputs of a network by name. */
export type Outputs = Readonly<Record<string, Float32Array>>;

/** Loads an ONNX file in onnxruntime, without its warnings. */
export async function openNetwork(bytes: Uint8Array): Promise<InferenceSession> {
  return InferenceSession.create(bytes, { logSeverityLevel: 3 });
}

/** Runs a network of one input on values of the given shape. */
export async function runNetwork(
  session: InferenceSession,
  shape: readonly number[],
  values: Float32Array,
): Promise<Outputs> {
  const results = await session.run({ [session.inputNames[0]!]: new Tensor("float32", values, shape) });
  return Object.fromEntries(Object.entries(results).map(([name, { data }]) => [name, data as Float32Array]));
}
