import { createHash } from "node:crypto";
import type { NetworkName } from "./networks.ts";

/**
 * Counts changes of what happens between the bytes of an image and the networks (decoding,
 * cropping, detecting, aligning, scaling) that move vectors. A new number is a release note.
 */
const PREPROCESSING = 3;

/** The networks that a vector depends on. */
const VECTOR_NETWORKS = ["detect", "mesh", "embed"] as const satisfies readonly NetworkName[];

/** A short name for what makes vectors: only vectors of the same identity can be compared to the last digit. */
export function identityOf(digests: Readonly<Record<NetworkName, string>>): string {
  const hash = createHash("sha256").update(`preprocessing ${PREPROCESSING}`);
  for (const name of VECTOR_NETWORKS) hash.update(`\n${name} ${digests[name]}`);
  return `sface-${hash.digest("hex").slice(0, 12)}`;
}
