import type { Box, Point } from "./types.ts";

/**
 * A similarity transform (turn, scale, shift): x' = a x - b y + dx, y' = b x + a y + dy.
 * Crops are described by the one that takes a crop's pixels to the photo's.
 */
export interface Similarity {
  readonly a: number;
  readonly b: number;
  readonly dx: number;
  readonly dy: number;
}

/** Takes a point through a transform. */
export function transform({ a, b, dx, dy }: Similarity, { x, y }: Point): Point {
  return { x: a * x - b * y + dx, y: b * x + a * y + dy };
}

/** The transform that undoes another. */
export function invert({ a, b, dx, dy }: Similarity): Similarity {
  const square = a * a + b * b;
  return {
    a: a / square,
    b: -b / square,
    dx: -(a * dx + b * dy) / square,
    dy: (b * dx - a * dy) / square,
  };
}

/** A square cut out of a photo, perhaps turned. */
export interface Square {
  readonly center: Point;
  readonly side: number;
  /** Clockwise turn as seen on screen. */
  readonly radians: number;
}

/** The transform from a crop of `pixels` by `pixels` to the square of the photo that it shows. */
export function cropOf({ center, side, radians }: Square, pixels: number): Similarity {
  const scale = side / pixels;
  const a = scale * Math.cos(radians);
  const b = scale * Math.sin(radians);
  const half = pixels / 2;
  return { a, b, dx: center.x - a * half + b * half, dy: center.y - b * half - a * half };
}

/** The similarity transform that takes one list of points to another with the least squared error. */
export function fitSimilarity(from: readonly Point[], to: readonly Point[]): Similarity {
  const p = meanOf(from);
  const q = meanOf(to);
  let square = 0;
  let dot = 0;
  let cross = 0;
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

/** The middle of some points. */
export function meanOf(points: readonly Point[]): Point {
  const sum = points.reduce((total, { x, y }) => ({ x: total.x + x, y: total.y + y }), { x: 0, y: 0 });
  return { x: sum.x / points.length, y: sum.y / points.length };
}

/** The smallest upright box around some points. */
export function boundsOf(points: readonly Point[]): Box {
  let [x1, y1, x2, y2] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y } of points) {
    x1 = Math.min(x1, x);
    y1 = Math.min(y1, y);
    x2 = Math.max(x2, x);
    y2 = Math.max(y2, y);
  }
  return { x1, y1, x2, y2 };
}

/** The middle of a box. */
export function centerOf({ x1, y1, x2, y2 }: Box): Point {
  return { x: (x1 + x2) / 2, y: (y1 + y2) / 2 };
}

/** The longer side of a box. */
export function longerSideOf({ x1, y1, x2, y2 }: Box): number {
  return Math.max(x2 - x1, y2 - y1);
}

/** Area of a box; 0 for one that is turned inside out. */
export function areaOf({ x1, y1, x2, y2 }: Box): number {
  return Math.max(0, x2 - x1) * Math.max(0, y2 - y1);
}

/** The part of a box that lies in another. */
export function intersectionOf(one: Box, other: Box): Box {
  return {
    x1: Math.max(one.x1, other.x1),
    y1: Math.max(one.y1, other.y1),
    x2: Math.min(one.x2, other.x2),
    y2: Math.min(one.y2, other.y2),
  };
}

/** Shared area over joint area, 0 to 1. */
export function overlapOf(one: Box, other: Box): number {
  const shared = areaOf(intersectionOf(one, other));
  return shared / (areaOf(one) + areaOf(other) - shared);
}

/** A box with its edges multiplied, from one size of an image to another. */
export function scaleBox({ x1, y1, x2, y2 }: Box, byX: number, byY: number): Box {
  return { x1: x1 * byX, y1: y1 * byY, x2: x2 * byX, y2: y2 * byY };
}
