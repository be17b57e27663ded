import { createHash } from "node:crypto";
import type { Network, NetworkName, TensorWriter } from "../networks.ts";

/** A face embedding of 128 numbers. Two embeddings of one person are less than 0.5 apart. */
export type Embedding = Float32Array;

/** The number of numbers in an embedding. */
export const EMBEDDING_SIZE = 128;

/**
 * The Euclidean norm of every embedding. It keeps distances within 0 to 0.9 and maps the threshold of 0.5
 * to the network's own: 0.5 / 0.45 = 1.11, against 1.13 on unit vectors.
 */
export const EMBEDDING_NORM = 0.45;

/**
 * Version of the preprocessing (decoding, cropping, detection, alignment, scaling). Increase it with every change
 * that moves embeddings, and name the change in CHANGELOG.md.
 */
const PREPROCESSING = 5;

/** The networks that an embedding depends on. */
const VECTOR_NETWORKS = ["detect", "mesh", "embed"] as const satisfies readonly NetworkName[];

/** Computes the embeddings of aligned crops. */
export async function embed(network: Network, crops: readonly TensorWriter[]): Promise<Embedding[]> {
  const { vector } = await network.run(crops);
  return vector!.map((values) => {
    const scale = EMBEDDING_NORM / Math.hypot(...values);
    return values.map((value) => value * scale);
  });
}

/**
 * Names the networks and the preprocessing that produce embeddings. Only embeddings of the same identity are comparable to
 * the last digit.
 */
export function embeddingIdentity(digests: Readonly<Record<NetworkName, string>>): string {
  const hash = createHash("sha256").update(`preprocessing ${PREPROCESSING}`);
  for (const name of VECTOR_NETWORKS) hash.update(`\n${name} ${digests[name]}`);
  return `sface-${hash.digest("hex").slice(0, 12)}`;
}
