import { PADDING, PIXEL_BYTES } from "./assembly/constants.ts";

/** So many bytes are read and written at once; of those after an image, the value does not matter. */
const SPARE_BYTES = 16;

/** An image in memory: the address of its first pixel, and the bytes from line to line. */
export interface PlacedImage {
  readonly address: number;
  readonly stride: number;
  readonly width: number;
  readonly height: number;
}

/** Where an image of this size lies, and after it all its halvings, if the first begins at an address. */
export function placeLevels(start: number, width: number, height: number): PlacedImage[] {
  const stride = (width + 2 * PADDING) * PIXEL_BYTES;
  const level = { address: start + PADDING * (stride + PIXEL_BYTES), stride, width, height };
  if (!canBeHalved(level)) return [level];
  return [level, ...placeLevels(start + lengthOf(level), width >> 1, height >> 1)];
}

/** How many bytes all of them take. */
export function lengthOfLevels(width: number, height: number): number {
  return placeLevels(0, width, height).reduce((sum, level) => sum + lengthOf(level), 0);
}

function canBeHalved({ width, height }: Pick<PlacedImage, "width" | "height">): boolean {
  return width >= 2 && height >= 2;
}

function lengthOf({ stride, height }: PlacedImage): number {
  return (height + 2 * PADDING) * stride + SPARE_BYTES;
}
