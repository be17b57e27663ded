import type { Box, Size } from "./geometry.ts";

/** Places an element of a layer over a photo of this size. */
export function placeOver({ style }: HTMLElement, { x1, y1, x2, y2 }: Box, { width, height }: Size): void {
  style.left = `${(100 * x1) / width}%`;
  style.top = `${(100 * y1) / height}%`;
  style.width = `${(100 * (x2 - x1)) / width}%`;
  style.height = `${(100 * (y2 - y1)) / height}%`;
}

/** Margin around the face in a crop, as a share of its longer side. */
const MARGIN = 0.15;

/** Draws a face of a photo on a square canvas. */
export function drawFace(canvas: HTMLCanvasElement, image: HTMLImageElement, { x1, y1, x2, y2 }: Box): void {
  const side = Math.max(x2 - x1, y2 - y1) * (1 + 2 * MARGIN);
  const [left, top] = [(x1 + x2 - side) / 2, (y1 + y2 - side) / 2];
  canvas.getContext("2d")?.drawImage(image, left, top, side, side, 0, 0, canvas.width, canvas.height);
}
