import type { Box } from "../photos/geometry.ts";
import { encodeJpeg } from "../photos/upload.ts";
import type { Face } from "./responses.ts";

/** A displayed photo. */
interface Picture {
  readonly image: HTMLImageElement;
  readonly width: number;
  readonly height: number;
}

/** Margin around a cropped face, as a share of its longer side. */
const CROP_MARGIN = 0.25;
/** Width of a line, as a share of the longer side of the photo. */
const LINE_SHARE = 1 / 400;

/** Draws boxes, numbers and landmarks on a photo in its full size, as JPEG. */
export function drawAnnotated(
  { image, width, height }: Picture,
  faces: readonly Face[],
  hasLandmarks: boolean,
): Promise<Blob> {
  const { canvas, context } = createCanvas(width, height);
  context.drawImage(image, 0, 0, width, height);
  const line = Math.max(1, Math.max(width, height) * LINE_SHARE);
  faces.forEach((face, i) => {
    drawBox(context, face.box, line);
    if (hasLandmarks) drawLandmarks(context, face, line);
    drawNumber(context, String(i + 1), face.box, line);
  });
  return encodeJpeg(canvas, { width, height });
}

/** Cuts a face with some margin out of a photo, in its full size, as JPEG. */
export function cropFace({ image, width, height }: Picture, { x1, y1, x2, y2 }: Box): Promise<Blob> {
  const margin = CROP_MARGIN * Math.max(x2 - x1, y2 - y1);
  const [left, top] = [Math.max(0, Math.floor(x1 - margin)), Math.max(0, Math.floor(y1 - margin))];
  const cropWidth = Math.max(1, Math.min(width, Math.ceil(x2 + margin)) - left);
  const cropHeight = Math.max(1, Math.min(height, Math.ceil(y2 + margin)) - top);
  const { canvas, context } = createCanvas(cropWidth, cropHeight);
  context.drawImage(image, left, top, cropWidth, cropHeight, 0, 0, cropWidth, cropHeight);
  return encodeJpeg(canvas, { width: cropWidth, height: cropHeight });
}

function createCanvas(width: number, height: number) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("The browser cannot draw a picture of this size.");
  return { canvas, context };
}

/** A light line on a dark one is visible on any photo. */
function drawBox(context: CanvasRenderingContext2D, { x1, y1, x2, y2 }: Box, line: number): void {
  for (const [color, width] of [
    ["rgb(0 0 0 / 55%)", 2 * line],
    ["#ffffff", line],
  ] as const) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.strokeRect(x1, y1, x2 - x1, y2 - y1);
  }
}

function drawLandmarks(context: CanvasRenderingContext2D, { box, landmarks = [] }: Face, line: number): void {
  const radius = Math.max(1, Math.min(line, (box.x2 - box.x1) / 60));
  context.fillStyle = "#50ffdc";
  for (const { x, y } of landmarks) {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
  }
}

/** Above the box, or inside it at the upper edge of the photo. */
function drawNumber(context: CanvasRenderingContext2D, text: string, { x1, y1 }: Box, line: number): void {
  const size = 8 * line;
  context.font = `600 ${size}px system-ui, sans-serif`;
  context.textBaseline = "top";
  const width = context.measureText(text).width + size;
  const height = 1.4 * size;
  const top = y1 - height - line >= 0 ? y1 - height - line : y1 + line;
  context.fillStyle = "rgb(0 0 0 / 72%)";
  context.fillRect(x1, top, width, height);
  context.fillStyle = "#ffffff";
  context.fillText(text, x1 + size / 2, top + 0.25 * size);
}
