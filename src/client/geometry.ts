/** A bounding box in pixels of the upright image. */
export interface Box {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

/** A point in pixels of the upright image. It may lie outside the image. */
export interface Point {
  readonly x: number;
  readonly y: number;
}
