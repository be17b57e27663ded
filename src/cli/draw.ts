import { boxArea, intersectBoxes } from "../core/geometry.ts";
import type { Box, Face, Point } from "../core/index.ts";
import type { Pixels } from "../core/types.ts";
import { GLYPH_HEIGHT, GLYPH_WIDTH, glyphOf } from "./glyphs.ts";
import { percent } from "./report.ts";

type Colour = readonly [red: number, green: number, blue: number];

// Bright on a dark rim stands out from any photo.
const FRAME: Colour = [255, 214, 10];
const DOT: Colour = [80, 255, 220];
const INK: Colour = [255, 255, 255];
const RIM: Colour = [0, 0, 0];
const LABEL_OPACITY = 0.75;

/** A copy of the photo with each face's rectangle, its 68 points and a label with number, age and gender. */
export function drawFaces(photo: Pixels, faces: readonly Face[]): Pixels {
  const canvas = { ...photo, data: new Uint8Array(photo.data) };
  const side = Math.sqrt(photo.width * photo.height);
  const line = Math.max(1, Math.round(side / 500));
  // Letters are drawn in squares of this many pixels.
  const dot = Math.ceil(side / 420);
  for (const { box } of faces) drawFrame(canvas, box, line);
  for (const { box, landmarks } of faces)
    drawDots(canvas, landmarks, Math.min(2 * line, (box.x2 - box.x1) / 80));
  // Last, so that no line crosses a label, and out of the way of every face and label before it.
  const taken = faces.map(({ box }) => box);
  faces.forEach((face, i) => {
    const text = [`#${i + 1} ${face.age}`, `${face.gender.toUpperCase()} ${percent(face.genderConfidence)}`];
    const place = placeLabel(face.box, labelSize(text, dot), photo, taken, 2 * line);
    drawLabel(canvas, text, place, dot);
    taken.push(place);
  });
  return canvas;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

function drawFrame(canvas: Pixels, box: Box, line: number): void {
  const rim = Math.ceil(line / 2);
  const around = { x1: box.x1 - rim, y1: box.y1 - rim, x2: box.x2 + rim, y2: box.y2 + rim };
  strokeBox(canvas, around, line + 2 * rim, RIM);
  strokeBox(canvas, box, line, FRAME);
}

function drawDots(canvas: Pixels, points: readonly Point[], radius: number): void {
  for (const point of points) fillDisc(canvas, point, 1.5 * radius, RIM);
  for (const point of points) fillDisc(canvas, point, radius, DOT);
}

/** Of the places around a face, the one inside the picture that covers the least of what is taken. */
function placeLabel(
  { x1, y1, x2, y2 }: Box,
  size: Size,
  picture: Size,
  taken: readonly Box[],
  gap: number,
): Box {
  const above = y1 - gap - size.height;
  const below = y2 + gap;
  const places: readonly (readonly [x: number, y: number])[] = [
    [x1, above],
    [x2 - size.width, above],
    [x1, below],
    [x2 - size.width, below],
    [x2 + gap, y1],
    [x1 - gap - size.width, y1],
  ];
  const boxes = places.map(([x, y]) => insideOf(picture, size, x, y));
  const covered = boxes.map((box) =>
    taken.reduce((sum, other) => sum + boxArea(intersectBoxes(box, other)), 0),
  );
  return boxes[covered.indexOf(Math.min(...covered))]!;
}

function insideOf(picture: Size, { width, height }: Size, x: number, y: number): Box {
  const x1 = Math.round(Math.max(0, Math.min(x, picture.width - width)));
  const y1 = Math.round(Math.max(0, Math.min(y, picture.height - height)));
  return { x1, y1, x2: x1 + width, y2: y1 + height };
}

/** Letters stand one dot apart, lines two, and there are two dots around the text. */
function labelSize(text: readonly string[], dot: number): Size {
  const letters = Math.max(...text.map(({ length }) => length));
  return {
    width: (letters * (GLYPH_WIDTH + 1) - 1 + 4) * dot,
    height: (text.length * (GLYPH_HEIGHT + 2) - 2 + 4) * dot,
  };
}

function drawLabel(canvas: Pixels, text: readonly string[], place: Box, dot: number): void {
  fillBox(canvas, place, RIM, LABEL_OPACITY);
  text.forEach((line, i) => {
    drawText(canvas, line, place.x1 + 2 * dot, place.y1 + (2 + i * (GLYPH_HEIGHT + 2)) * dot, dot);
  });
}

function drawText(canvas: Pixels, text: string, left: number, top: number, dot: number): void {
  [...text].forEach((character, i) => {
    glyphOf(character).forEach((row, y) => {
      row.forEach((ink, x) => {
        if (!ink) return;
        const x1 = left + (i * (GLYPH_WIDTH + 1) + x) * dot;
        const y1 = top + y * dot;
        fillBox(canvas, { x1, y1, x2: x1 + dot, y2: y1 + dot }, INK);
      });
    });
  });
}

/** Draws along the edges of a box, on the inside: those that are the picture's edges stay visible. */
function strokeBox(canvas: Pixels, box: Box, line: number, colour: Colour): void {
  fillBox(canvas, { ...box, x2: box.x1 + line }, colour);
  fillBox(canvas, { ...box, x1: box.x2 - line }, colour);
  fillBox(canvas, { ...box, y2: box.y1 + line }, colour);
  fillBox(canvas, { ...box, y1: box.y2 - line }, colour);
}

function fillBox(canvas: Pixels, box: Box, colour: Colour, opacity = 1): void {
  for (let y = Math.round(box.y1); y < Math.round(box.y2); y++)
    for (let x = Math.round(box.x1); x < Math.round(box.x2); x++) blend(canvas, x, y, colour, opacity);
}

/** Pixels that the edge of the disc crosses are mixed, which makes small dots round. */
function fillDisc(canvas: Pixels, { x, y }: Point, radius: number, colour: Colour): void {
  for (let row = Math.floor(y - radius - 1); row <= y + radius + 1; row++)
    for (let column = Math.floor(x - radius - 1); column <= x + radius + 1; column++) {
      const inside = radius + 0.5 - Math.hypot(column + 0.5 - x, row + 0.5 - y);
      blend(canvas, column, row, colour, Math.max(0, Math.min(1, inside)));
    }
}

function blend({ width, height, data }: Pixels, x: number, y: number, colour: Colour, opacity: number): void {
  if (x < 0 || y < 0 || x >= width || y >= height) return;
  const at = 3 * (y * width + x);
  colour.forEach((value, i) => {
    data[at + i] = Math.round(data[at + i]! * (1 - opacity) + value * opacity);
  });
}
