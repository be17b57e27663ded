import { clusteredTemplates, randomTemplates } from "../../bench/templates.ts";

/** Vectors of length 0.45 in all directions, the same for the same seed. */
export function randomVectors(count: number, seed: number): Float32Array[] {
  return [...randomTemplates(count, seed)];
}

/** One of them. */
export function randomVector(seed: number): Float32Array {
  return randomVectors(1, seed)[0]!;
}

/** So many people with so many vectors each, which lie about as near as photographs of one person do. */
export function clusteredVectors(people: number, each: number, seed: number): Float32Array[] {
  return [...clusteredTemplates(people, each, seed)];
}
