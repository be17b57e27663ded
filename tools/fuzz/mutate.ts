import type { Random } from "../support/random.ts";

/** Format-specific inputs of the mutators. */
export interface MutationInputs {
  /** Byte sequences with a meaning in the format, which are put anywhere. */
  readonly dictionary: readonly Uint8Array[];
  /** Valid examples of the format, which are spliced into others. */
  readonly corpus: readonly Uint8Array[];
}

type Mutator = (bytes: Buffer, random: Random, inputs: MutationInputs) => Buffer;

const MAX_MUTATIONS = 6;
const MAX_BLOCK_BYTES = 64;
const MAX_REPEATS = 20;
const MAX_NOISE_BYTES = 16;

/** Half of the mutations hit the first bytes, where headers are. */
const HEADER_BYTES = 700;

/** Boundary values of lengths and counts. */
const BOUNDARY_VALUES = [
  0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
];

const MUTATORS: readonly Mutator[] = [
  function flipBit(bytes, random) {
    return replaceByte(bytes, random, (byte) => byte ^ (1 << random.below(8)));
  },
  function randomizeByte(bytes, random) {
    return replaceByte(bytes, random, () => random.below(256));
  },
  function overwriteWithBoundaryValue(bytes, random) {
    const value = Buffer.alloc(4);
    value.writeUInt32BE(random.pick(BOUNDARY_VALUES));
    return overwrite(bytes, random, value.subarray(random.pick([0, 2, 3])));
  },
  function overwriteWithToken(bytes, random, { dictionary }) {
    return overwrite(bytes, random, random.pick(dictionary));
  },
  function insertToken(bytes, random, { dictionary }) {
    return insert(bytes, random, random.pick(dictionary));
  },
  function insertNoise(bytes, random) {
    const length = 1 + random.below(MAX_NOISE_BYTES);
    return insert(bytes, random, Buffer.from(Array.from({ length }, () => random.below(256))));
  },
  function deleteBlock(bytes, random) {
    const { start, end } = pickBlock(bytes, random);
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
  },
  function repeatBlock(bytes, random) {
    const { start, end } = pickBlock(bytes, random);
    const length = (end - start) * (1 + random.below(MAX_REPEATS));
    return insert(bytes, random, Buffer.alloc(length, bytes.subarray(start, end)));
  },
  function truncate(bytes, random) {
    return bytes.subarray(0, random.below(bytes.length + 1));
  },
  function splice(bytes, random, { corpus }) {
    const other = random.pick(corpus);
    const start = bytes.subarray(0, pickOffset(bytes, random));
    return Buffer.concat([start, other.subarray(pickOffset(other, random))]);
  },
];

/** Applies one to six random mutations. */
export function mutate(bytes: Uint8Array, random: Random, inputs: MutationInputs): Buffer {
  let mutated: Buffer = Buffer.from(bytes);
  for (let left = 1 + random.below(MAX_MUTATIONS); left > 0; left--)
    mutated = random.pick(MUTATORS)(mutated, random, inputs);
  return mutated;
}

function replaceByte(bytes: Buffer, random: Random, change: (byte: number) => number): Buffer {
  if (bytes.length === 0) return bytes;
  const offset = pickOffset(bytes, random) % bytes.length;
  const copy = Buffer.from(bytes);
  copy[offset] = change(copy[offset]!);
  return copy;
}

function overwrite(bytes: Buffer, random: Random, part: Uint8Array): Buffer {
  const offset = pickOffset(bytes, random);
  return Buffer.concat([bytes.subarray(0, offset), part, bytes.subarray(offset + part.length)]);
}

function insert(bytes: Buffer, random: Random, part: Uint8Array): Buffer {
  const offset = pickOffset(bytes, random);
  return Buffer.concat([bytes.subarray(0, offset), part, bytes.subarray(offset)]);
}

function pickBlock(bytes: Buffer, random: Random): { start: number; end: number } {
  const start = pickOffset(bytes, random);
  return { start, end: Math.min(bytes.length, start + 1 + random.below(MAX_BLOCK_BYTES)) };
}

function pickOffset(bytes: Uint8Array, random: Random): number {
  const length = random.below(2) === 0 ? Math.min(bytes.length, HEADER_BYTES) : bytes.length;
  return random.below(length + 1);
}
