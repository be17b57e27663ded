import type { Random } from "./random.ts";

/** What a change may draw on besides chance. */
export interface Material {
  /** Bytes that mean something in the format, to be put anywhere. */
  readonly tokens: readonly Uint8Array[];
  /** Other sound examples of the format, to be joined with. */
  readonly others: readonly Uint8Array[];
}

type Change = (bytes: Buffer, random: Random, material: Material) => Buffer;

const MOST_CHANGES = 6;
const MOST_BLOCK_BYTES = 64;

/** Numbers at which readers of lengths and counts go wrong. */
const NUMBERS = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff];

const CHANGES: readonly Change[] = [
  function flipBit(bytes, random) {
    return replaced(bytes, random, (byte) => byte ^ (1 << random.below(8)));
  },
  function changeByte(bytes, random) {
    return replaced(bytes, random, () => random.below(256));
  },
  function putNumber(bytes, random) {
    const number = Buffer.alloc(4);
    number.writeUInt32BE(random.pick(NUMBERS));
    return overwritten(bytes, random, number.subarray(random.pick([0, 2, 3])));
  },
  function putToken(bytes, random, { tokens }) {
    return overwritten(bytes, random, random.pick(tokens));
  },
  function insertToken(bytes, random, { tokens }) {
    return inserted(bytes, random, random.pick(tokens));
  },
  function insertNoise(bytes, random) {
    return inserted(
      bytes,
      random,
      Buffer.from(Array.from({ length: 1 + random.below(16) }, () => random.below(256))),
    );
  },
  function deleteBlock(bytes, random) {
    const { start, end } = blockOf(bytes, random);
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
  },
  function repeatBlock(bytes, random) {
    const { start, end } = blockOf(bytes, random);
    return inserted(
      bytes,
      random,
      Buffer.alloc((end - start) * (1 + random.below(20)), bytes.subarray(start, end)),
    );
  },
  function cutShort(bytes, random) {
    return bytes.subarray(0, random.below(bytes.length + 1));
  },
  function joinWithOther(bytes, random, { others }) {
    const other = random.pick(others);
    return Buffer.concat([bytes.subarray(0, placeIn(bytes, random)), other.subarray(placeIn(other, random))]);
  },
];

/** Changes bytes in one to six ways. */
export function mutate(bytes: Uint8Array, random: Random, material: Material): Buffer {
  let changed: Buffer = Buffer.from(bytes);
  for (let left = 1 + random.below(MOST_CHANGES); left > 0; left--) {
    changed = random.pick(CHANGES)(changed, random, material);
  }
  return changed;
}

function replaced(bytes: Buffer, random: Random, change: (byte: number) => number): Buffer {
  if (bytes.length === 0) return bytes;
  const at = placeIn(bytes, random) % bytes.length;
  const copy = Buffer.from(bytes);
  copy[at] = change(copy[at]!);
  return copy;
}

function overwritten(bytes: Buffer, random: Random, part: Uint8Array): Buffer {
  const at = placeIn(bytes, random);
  return Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at + part.length)]);
}

function inserted(bytes: Buffer, random: Random, part: Uint8Array): Buffer {
  const at = placeIn(bytes, random);
  return Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at)]);
}

function blockOf(bytes: Buffer, random: Random): { start: number; end: number } {
  const start = placeIn(bytes, random);
  return { start, end: Math.min(bytes.length, start + 1 + random.below(MOST_BLOCK_BYTES)) };
}

/** Half of the places lie in the first 700 bytes, where headers are. */
function placeIn(bytes: Uint8Array, random: Random): number {
  const length = random.below(2) === 0 ? Math.min(bytes.length, 700) : bytes.length;
  return random.below(length + 1);
}
