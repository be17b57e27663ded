/** Returns a generator of pseudorandom numbers from 0 to 1. The same seed gives the same numbers (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns pseudorandom numbers between `low` and `high`. The same seed gives the same numbers. */
export function randomFloats(length: number, low: number, high: number, seed: number): Float32Array {
  const random = createRandom(seed);
  return Float32Array.from({ length }, () => low + random() * (high - low));
}

/** Concatenates lists. */
export function concatFloats(lists: readonly Float32Array[]): Float32Array {
  return Float32Array.from(lists.flatMap((list) => [...list]));
}

/** Returns the largest difference between two lists, in units that may depend on the expected number. */
export function largestDifference(
  actual: Float32Array,
  expected: Float32Array,
  unitOf: (expected: number) => number = () => 1,
): number {
  if (actual.length !== expected.length)
    throw new Error(`${actual.length} numbers instead of ${expected.length}`);
  // Math.max propagates NaN, so that NaN cannot pass as a small difference.
  return expected.reduce((largest, e, i) => Math.max(largest, Math.abs(actual[i]! - e) / unitOf(e)), 0);
}
