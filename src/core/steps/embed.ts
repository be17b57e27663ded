import type { Drawing, Network } from "../networks.ts";

/** A face as 128 numbers; two of the same person lie less than 0.5 apart. */
export type Vector = Float32Array;

/**
 * Every vector has this length, so that distances lie in 0 to 0.9 (spec 2.2) and 0.5 falls on the
 * network's own threshold: 0.5 / 0.45 = 1.11, against 1.13 on unit vectors.
 */
export const VECTOR_LENGTH = 0.45;

/** Turns aligned crops into vectors. */
export async function embed(network: Network, crops: readonly Drawing[]): Promise<Vector[]> {
  const { vector } = await network.run(crops);
  return vector!.map((numbers) => {
    const scale = VECTOR_LENGTH / Math.hypot(...numbers);
    return numbers.map((value) => value * scale);
  });
}
