/** How a network wants its pixels: value times scale plus offset. */
export interface PixelRange {
  readonly scale: number;
  readonly offset: number;
}

/**
 * Where the samples of a crop lie in an image, whose pixels have their centres at whole numbers: each pixel of
 * the crop is the mean of two by two samples, `gap` apart, each blended from the four pixels around it.
 */
export interface Grid {
  /** The first sample of the crop's first pixel. */
  readonly x: number;
  readonly y: number;
  /** One pixel to the right in the crop is so far to the right and down in the image. */
  readonly a: number;
  readonly b: number;
  /** 0 to 1; at 0 the two samples are one. */
  readonly gap: number;
  /** Pixels of the crop on a side. */
  readonly side: number;
}

/** Sum of the weights of all pixels in a sum of two by two samples. */
export const ALL_WEIGHTS = 4;

/**
 * Two samples in a row take from three pixels in a row. This is the weight of the first, when the first sample
 * lies `offset` after it; the three weights add up to 2.
 */
export function firstWeight(offset: number, gap: number): number {
  return 1 - offset + Math.max(0, 1 - offset - gap);
}

/** The weight of the third pixel. */
export function thirdWeight(offset: number, gap: number): number {
  return Math.max(0, offset + gap - 1);
}
