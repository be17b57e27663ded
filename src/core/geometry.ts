/** A point of an image in pixels, from the image's top left corner. Pixel centres lie at half-integers. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** An axis-aligned box in pixels: left, top, right and bottom edge. */
export interface Box {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

/** Decoded pixels: three bytes each (red, green, blue), row by row, without padding. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/**
 * A similarity transform (rotation, scale, translation): x' = a x - b y + dx, y' = b x + a y + dy.
 * A crop is described by the transform from the crop's pixels to the image's.
 */
export interface SimilarityTransform {
  readonly a: number;
  readonly b: number;
  readonly dx: number;
  readonly dy: number;
}

/** Applies a transform to a point. */
export function transformPoint({ a, b, dx, dy }: SimilarityTransform, { x, y }: Point): Point {
  return { x: a * x - b * y + dx, y: b * x + a * y + dy };
}

/** A square region of an image, possibly rotated. */
export interface Square {
  readonly center: Point;
  readonly side: number;
  /** Rotation, clockwise as seen on screen. */
  readonly radians: number;
}

/** Returns the transform from a crop of `pixels` by `pixels` to the square of the image that it shows. */
export function cropTransform({ center, side, radians }: Square, pixels: number): SimilarityTransform {
  const scale = side / pixels;
  const a = scale * Math.cos(radians);
  const b = scale * Math.sin(radians);
  const half = pixels / 2;
  return { a, b, dx: center.x - a * half + b * half, dy: center.y - b * half - a * half };
}

/** Fits the similarity transform that maps the points `from` to the points `to` with the least squared error. */
export function fitSimilarity(from: readonly Point[], to: readonly Point[]): SimilarityTransform {
  const p = centroid(from);
  const q = centroid(to);
  let [square, dot, cross] = [0, 0, 0];
  from.forEach((point, i) => {
    const x = point.x - p.x;
    const y = point.y - p.y;
    const u = to[i]!.x - q.x;
    const v = to[i]!.y - q.y;
    square += x * x + y * y;
    dot += x * u + y * v;
    cross += x * v - y * u;
  });
  const a = dot / square;
  const b = cross / square;
  return { a, b, dx: q.x - a * p.x + b * p.y, dy: q.y - b * p.x - a * p.y };
}

/** Returns the mean of some points. */
export function centroid(points: readonly Point[]): Point {
  const sum = points.reduce((total, { x, y }) => ({ x: total.x + x, y: total.y + y }), { x: 0, y: 0 });
  return { x: sum.x / points.length, y: sum.y / points.length };
}

/** Returns the smallest axis-aligned box that contains all points. */
export function boundingBox(points: readonly Point[]): Box {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  return { x1: Math.min(...xs), y1: Math.min(...ys), x2: Math.max(...xs), y2: Math.max(...ys) };
}

export function boxCenter({ x1, y1, x2, y2 }: Box): Point {
  return { x: (x1 + x2) / 2, y: (y1 + y2) / 2 };
}

export function longerSide({ x1, y1, x2, y2 }: Box): number {
  return Math.max(x2 - x1, y2 - y1);
}

/** Returns the area of a box; 0 if its edges are swapped. */
export function boxArea({ x1, y1, x2, y2 }: Box): number {
  return Math.max(0, x2 - x1) * Math.max(0, y2 - y1);
}

/** Returns the intersection of two boxes. Its area is 0 if they do not overlap. */
export function intersectBoxes(one: Box, other: Box): Box {
  return {
    x1: Math.max(one.x1, other.x1),
    y1: Math.max(one.y1, other.y1),
    x2: Math.min(one.x2, other.x2),
    y2: Math.min(one.y2, other.y2),
  };
}

/** Returns the intersection over union of two boxes, 0 to 1. */
export function iou(one: Box, other: Box): number {
  const intersection = boxArea(intersectBoxes(one, other));
  return intersection / (boxArea(one) + boxArea(other) - intersection);
}

/** Scales a box from one size of an image to another. */
export function scaleBox({ x1, y1, x2, y2 }: Box, scaleX: number, scaleY: number): Box {
  return { x1: x1 * scaleX, y1: y1 * scaleY, x2: x2 * scaleX, y2: y2 * scaleY };
}
