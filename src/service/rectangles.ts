import type { Box } from "../core/index.ts";

/** A face's box as the wire tells it: left, top, right, bottom in whole pixels. */
export function rectangleOf({ x1, y1, x2, y2 }: Box): [number, number, number, number] {
  return [Math.round(x1), Math.round(y1), Math.round(x2), Math.round(y2)];
}

/** Width and height of that rectangle. */
export function sizeOf(box: Box): [number, number] {
  const [x1, y1, x2, y2] = rectangleOf(box);
  return [x2 - x1, y2 - y1];
}
