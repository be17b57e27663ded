import { clusteredTemplates, randomTemplates } from "../../bench/templates.ts";

/** Vectors of length 0.45 in uniformly random directions. The same seed gives the same vectors. */
export function randomVectors(count: number, seed: number): Float32Array[] {
  return [...randomTemplates(count, seed)];
}

/** Returns one such vector. */
export function randomVector(seed: number): Float32Array {
  return randomVectors(1, seed)[0]!;
}

/** Vectors of several people, as near to each other as photos of one person are. */
export function clusteredVectors(people: number, vectorsPerPerson: number, seed: number): Float32Array[] {
  return [...clusteredTemplates(people, vectorsPerPerson, seed)];
}
