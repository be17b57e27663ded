/** The width and height of a photo in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Edges of a box in pixels of the upright photo. */
export interface Box {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

/** How many pixels of one photo a pixel of another is, across and down. */
export interface Scale {
  readonly x: number;
  readonly y: number;
}

/** The longest side of a photo that is scaled down. Faces remain large enough for every network. */
const MAX_SIDE = 2048;

/** The size at which a photo is sent if it may be scaled down. */
export function sentSize({ width, height }: Size, maxPixels = Infinity): Size {
  const scale = Math.min(1, MAX_SIDE / Math.max(width, height), Math.sqrt(maxPixels / (width * height)));
  if (scale === 1) return { width, height };
  return { width: Math.max(1, Math.floor(width * scale)), height: Math.max(1, Math.floor(height * scale)) };
}
