import { createMemory, PAGE_BYTES } from "../wasm/module.ts";
import { halveIn } from "./halve-code.ts";
import { lengthOfLevels, PIXEL_BYTES, type PlacedImage, placeLevels } from "./image-memory.ts";
import { AT_ONCE } from "./sample-code.ts";
import { sampleStraightIn } from "./sample-straight-code.ts";
import { sampleTurnedIn } from "./sample-turned-code.ts";
import type { Pixels } from "./types.ts";

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

/** An image at full size and halved again and again, of which the first so many are made. */
interface Halvings {
  readonly levels: readonly PlacedImage[];
  made: number;
}

const MOST_SIDE = 256;

/** A line of an image this wide fits the scratch memory. */
const MOST_STRAIGHT_WIDTH = 4096;

// Memory that WebAssembly works in: a crop, scratch, and then images, which stay until others need the room. It fits
// the largest photo that is worked on with all its halvings.
const SCRATCH = 3 * 4 * MOST_SIDE ** 2;
const IMAGES = SCRATCH + PAGE_BYTES;
const IMAGES_BYTES = 8 * 1024 * 1024;
const memory = createMemory((IMAGES + IMAGES_BYTES) / PAGE_BYTES);
const sampleTurned = sampleTurnedIn(memory);
const sampleStraight = sampleStraightIn(memory);
const halve = halveIn(memory);
let bytes = new Uint8Array(memory.buffer);
let images = new WeakMap<Pixels, Halvings>();
let end = IMAGES;

/** Fills the three planes of a crop of an image halved so often; outside the image is black. */
export function sample(
  pixels: Pixels,
  halvings: number,
  { x, y, a, b, gap, side }: Grid,
  { scale, offset }: PixelRange,
  planes: Float32Array,
): void {
  if (side > MOST_SIDE || side % AT_ONCE !== 0) throw new RangeError(`no crop can have a side of ${side}`);
  const { address, stride, width, height } = levelOf(images.get(pixels) ?? place(pixels), halvings);
  const isStraight = b === 0 && a > 0 && width <= MOST_STRAIGHT_WIDTH;
  const fill = isStraight ? sampleStraight : sampleTurned;
  fill(address, stride, width, height, x, y, a, b, gap, SCRATCH, 0, side, scale, offset);
  planes.set(new Float32Array(memory.buffer, 0, 3 * side * side));
}

function levelOf(image: Halvings, level: number): PlacedImage {
  for (; image.made <= level; image.made++) {
    const from = image.levels[image.made - 1]!;
    const to = image.levels[image.made]!;
    halve(from.address, from.stride, to.address, to.stride, to.width, to.height);
  }
  return image.levels[level]!;
}

function place(pixels: Pixels): Halvings {
  const { width, height, data } = pixels;
  const length = lengthOfLevels(width, height);
  makeRoom(length);
  const levels = placeLevels(end, width, height);
  bytes.fill(0, end, end + length);
  end += length;

  const { address, stride } = levels[0]!;
  const line = width * PIXEL_BYTES;
  for (let row = 0; row < height; row++)
    bytes.set(data.subarray(row * line, (row + 1) * line), address + row * stride);
  const image = { levels, made: 1 };
  images.set(pixels, image);
  return image;
}

/** Where there is not enough room, all images make way. */
function makeRoom(length: number): void {
  if (end + length <= bytes.length) return;
  images = new WeakMap();
  end = IMAGES;
  const missing = end + length - bytes.length;
  if (missing <= 0) return;
  memory.grow(Math.ceil(missing / PAGE_BYTES));
  bytes = new Uint8Array(memory.buffer);
}
