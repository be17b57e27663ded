import type { Pixels } from "../types.ts";
import { PADDING, PIXEL_BYTES, PIXELS_PER_STEP } from "./assembly/constants.ts";
import { IMAGES, IMAGES_END, kernels, MOST_SIDE, memory, SCRATCH } from "./drawing-memory.ts";
import { lengthOfLevels, type PlacedImage, placeLevels } from "./image-memory.ts";

/** How a network wants its pixels: value times scale plus offset. */
export interface PixelRange {
  readonly scale: number;
  readonly offset: number;
}

/** Where the samples of a crop lie in an image. */
export interface Grid {
  /** The first sample of the crop's first pixel; pixels have their centres at whole numbers. */
  readonly x: number;
  readonly y: number;
  /** One pixel to the right in the crop is so far to the right and down in the image. */
  readonly a: number;
  readonly b: number;
  /** Each pixel of the crop is the mean of two by two samples, so far apart: 0 to 1. */
  readonly gap: number;
  /** Pixels of the crop on a side: a multiple of 4, at most 256. */
  readonly side: number;
}

/** An image in memory at full size and halved again and again, of which the first so many are made. */
interface Halvings {
  readonly levels: readonly PlacedImage[];
  made: number;
}

/** A line of an image this wide fits the scratch memory. */
const MOST_STRAIGHT_WIDTH = 4096;

// One image after another, until none is needed any more, or there is no room left.
const bytes = new Uint8Array(memory.buffer);
let images = new WeakMap<Pixels, Halvings>();
let placed = 0;
let end = IMAGES;

/** Fills the three planes of a crop, on the canvas, of an image halved so often; outside the image is black. */
export function sample(
  pixels: Pixels,
  halvings: number,
  { x, y, a, b, gap, side }: Grid,
  { scale, offset }: PixelRange,
  planes: Float32Array,
): void {
  if (side > MOST_SIDE || side % PIXELS_PER_STEP !== 0)
    throw new RangeError(`no crop can have a side of ${side}`);
  const { address, stride, width, height } = levelOf(images.get(pixels) ?? place(pixels), halvings);
  const isStraight = b === 0 && a > 0 && width <= MOST_STRAIGHT_WIDTH;
  const image = [address, stride, width, height, x, y] as const;
  const output = [gap, SCRATCH, addressOf(planes), side, scale, offset] as const;
  if (isStraight) kernels.sampleUpright(...image, a, ...output);
  else kernels.sampleRotated(...image, a, b, ...output);
}

/** Gives up the memory of an image that no more crops are cut out of: the next one finds it warm. */
export function forget(pixels: Pixels): void {
  if (!images.delete(pixels)) return;
  placed--;
  if (placed === 0) end = IMAGES;
}

/** Fills planes with those of a crop of so many pixels on a side, mirrored left to right; both are on the canvas. */
export function mirror(planes: Float32Array, side: number, mirrored: Float32Array): void {
  kernels.mirror(addressOf(planes), addressOf(mirrored), 4 * side, 3 * side);
}

function addressOf({ buffer, byteOffset }: Float32Array): number {
  if (buffer !== memory.buffer) throw new RangeError("not on the canvas");
  return byteOffset;
}

function levelOf(image: Halvings, level: number): PlacedImage {
  for (; image.made <= level; image.made++) {
    const from = image.levels[image.made - 1]!;
    const to = image.levels[image.made]!;
    kernels.halve(from.address, from.stride, to.address, to.stride, to.width, to.height);
    blackenMargin(to);
  }
  return image.levels[level]!;
}

function place(pixels: Pixels): Halvings {
  const { width, height, data } = pixels;
  const length = lengthOfLevels(width, height);
  makeRoom(length);
  const levels = placeLevels(end, width, height);
  end += length;

  const { address, stride } = levels[0]!;
  const line = width * PIXEL_BYTES;
  // Not of a Buffer, whose parts take longer to make.
  const source = new Uint8Array(data.buffer, data.byteOffset, data.length);
  for (let row = 0; row < height; row++)
    bytes.set(source.subarray(row * line, (row + 1) * line), address + row * stride);
  blackenMargin(levels[0]!);
  const image = { levels, made: 1 };
  images.set(pixels, image);
  placed++;
  return image;
}

/** Where there is not enough room, all images make way. */
function makeRoom(length: number): void {
  if (end + length <= IMAGES_END) return;
  if (IMAGES + length > IMAGES_END) throw new RangeError("the image is too large to cut crops out of");
  images = new WeakMap();
  placed = 0;
  end = IMAGES;
}

function blackenMargin({ address, stride, width, height }: PlacedImage): void {
  const first = address - PADDING * (stride + PIXEL_BYTES);
  const last = address + height * stride;
  bytes.fill(0, first, address);
  // From the end of a line to the next: a call for so few bytes would take longer.
  for (let line = address + width * PIXEL_BYTES; line < last; line += stride)
    for (let at = line; at < line + 2 * PADDING * PIXEL_BYTES; at++) bytes[at] = 0;
  bytes.fill(0, last - PADDING * PIXEL_BYTES, last + PADDING * stride);
}
