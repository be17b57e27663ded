import type { Pixels } from "../geometry.ts";
import { PADDING, PIXEL_BYTES } from "./assembly/constants.ts";
import { kernels, PYRAMID_ADDRESS, PYRAMID_BYTES } from "./kernel-memory.ts";

/** One level of an image pyramid in the kernels' memory. Level 0 is the image; each further one is half as large. */
export interface MipLevel {
  /** Address of the first pixel. The level has PADDING black pixels on every side. */
  readonly address: number;
  /** Bytes from one row to the next. */
  readonly stride: number;
  readonly width: number;
  readonly height: number;
}

/** The pyramid that is in the kernels' memory. */
interface Pyramid {
  readonly image: WeakRef<Pixels>;
  readonly levels: readonly MipLevel[];
  /** Number of levels that are computed. */
  computed: number;
}

/** The kernels read and write 16 bytes at once, so they reach past the end of a level. */
const TAIL_BYTES = 16;

const bytes = new Uint8Array(kernels.memory.buffer);

let pyramid: Pyramid | undefined;

/**
 * Returns a level of an image's pyramid. A call for another image than the last one copies it into the kernels' memory,
 * where it replaces the last one; levels are computed when they are first needed.
 */
export function mipLevel(image: Pixels, level: number): MipLevel {
  if (pyramid?.image.deref() !== image) pyramid = startPyramid(image);
  for (; pyramid.computed <= level; pyramid.computed++) {
    const from = pyramid.levels[pyramid.computed - 1]!;
    const to = pyramid.levels[pyramid.computed]!;
    kernels.halve(from.address, from.stride, to.address, to.stride, to.width, to.height);
    clearPadding(to);
  }
  return pyramid.levels[level]!;
}

/** Bytes of the pyramid of an image of this size. */
export function pyramidBytes(width: number, height: number): number {
  return layOutLevels(0, width, height).reduce((sum, level) => sum + levelBytes(level), 0);
}

function startPyramid(image: Pixels): Pyramid {
  const { width, height, data } = image;
  if (pyramidBytes(width, height) > PYRAMID_BYTES)
    throw new RangeError("The image is too large for the crop kernels.");
  const levels = layOutLevels(PYRAMID_ADDRESS, width, height);
  const { address, stride } = levels[0]!;
  const rowBytes = width * PIXEL_BYTES;
  // `subarray` of a Buffer is slower than that of a plain Uint8Array.
  const source = new Uint8Array(data.buffer, data.byteOffset, data.length);
  for (let row = 0; row < height; row++)
    bytes.set(source.subarray(row * rowBytes, (row + 1) * rowBytes), address + row * stride);
  clearPadding(levels[0]!);
  return { image: new WeakRef(image), levels, computed: 1 };
}

/** Places the levels one after another from `start` on, down to a width or height of one pixel. */
function layOutLevels(start: number, width: number, height: number): MipLevel[] {
  const stride = (width + 2 * PADDING) * PIXEL_BYTES;
  const level = { address: start + PADDING * (stride + PIXEL_BYTES), stride, width, height };
  if (width < 2 || height < 2) return [level];
  return [level, ...layOutLevels(start + levelBytes(level), width >> 1, height >> 1)];
}

function levelBytes({ stride, height }: MipLevel): number {
  return (height + 2 * PADDING) * stride + TAIL_BYTES;
}

function clearPadding({ address, stride, width, height }: MipLevel): void {
  const first = address - PADDING * (stride + PIXEL_BYTES);
  const last = address + height * stride;
  bytes.fill(0, first, address);
  // The padding between two rows is contiguous. It is so short that a call of `fill` takes longer than a loop.
  for (let rowEnd = address + width * PIXEL_BYTES; rowEnd < last; rowEnd += stride)
    for (let at = rowEnd; at < rowEnd + 2 * PADDING * PIXEL_BYTES; at++) bytes[at] = 0;
  bytes.fill(0, last - PADDING * PIXEL_BYTES, last + PADDING * stride);
}
