/** A place in an image, in pixels from its top left corner; pixel centres lie at halves. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** An upright rectangle in pixels: left, top, right, bottom edge. */
export interface Box {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

/** Decoded pixels: three bytes each (red, green, blue), row by row, no padding. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** A decoded photograph, upright, perhaps smaller than what was sent. */
export interface Photo {
  readonly pixels: Pixels;
  /** Size of the upright image as sent; all results are in its coordinates. */
  readonly width: number;
  readonly height: number;
}
