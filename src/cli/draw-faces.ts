import sharp from "sharp";
import {
  attributesOf,
  type Box,
  boxArea,
  decodeFullSize,
  type Face,
  intersectBoxes,
  type Pixels,
  type Point,
} from "../core/index.ts";
import { formatPercent } from "./format.ts";
import { findGlyph, GLYPH_HEIGHT, GLYPH_WIDTH } from "./glyphs.ts";

type Colour = readonly [red: number, green: number, blue: number];

// Bright colours with a dark outline are visible on any photo.
const BOX_COLOUR: Colour = [255, 214, 10];
const LANDMARK_COLOUR: Colour = [80, 255, 220];
const TEXT_COLOUR: Colour = [255, 255, 255];
const OUTLINE_COLOUR: Colour = [0, 0, 0];
const LABEL_OPACITY = 0.75;

/** Draws the faces on a photo that the core has accepted. Returns a PNG of the upright photo at full size. */
export async function drawFacesOnPhoto(photo: Uint8Array, faces: readonly Face[]): Promise<Uint8Array> {
  const { width, height, data } = drawFaces(await decodeFullSize(photo), faces);
  return sharp(data, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
}

/** Returns a copy of the photo with the box, landmarks and label (number, age, gender) of each face. */
export function drawFaces(photo: Pixels, faces: readonly Face[]): Pixels {
  const canvas = { ...photo, data: new Uint8Array(photo.data) };
  const side = Math.sqrt(photo.width * photo.height);
  const lineWidth = Math.max(1, Math.round(side / 500));
  const fontPixel = Math.ceil(side / 420);
  for (const { box } of faces) drawBox(canvas, box, lineWidth);
  for (const { box, landmarks } of faces)
    drawLandmarks(canvas, landmarks, Math.min(2 * lineWidth, (box.x2 - box.x1) / 80));
  // Draw labels last, so that no line crosses them. Each avoids all faces and earlier labels.
  const occupied = faces.map(({ box }) => box);
  faces.forEach((face, i) => {
    const { age, gender, genderConfidence } = attributesOf(face);
    const lines = [`#${i + 1} ${age}`, `${gender.toUpperCase()} ${formatPercent(genderConfidence)}`];
    const place = placeLabel(face.box, measureLabel(lines, fontPixel), photo, occupied, 2 * lineWidth);
    drawLabel(canvas, lines, place, fontPixel);
    occupied.push(place);
  });
  return canvas;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

function drawBox(canvas: Pixels, box: Box, lineWidth: number): void {
  const outline = Math.ceil(lineWidth / 2);
  const outer = {
    x1: box.x1 - outline,
    y1: box.y1 - outline,
    x2: box.x2 + outline,
    y2: box.y2 + outline,
  };
  strokeBox(canvas, outer, lineWidth + 2 * outline, OUTLINE_COLOUR);
  strokeBox(canvas, box, lineWidth, BOX_COLOUR);
}

function drawLandmarks(canvas: Pixels, points: readonly Point[], radius: number): void {
  for (const point of points) fillDisc(canvas, point, 1.5 * radius, OUTLINE_COLOUR);
  for (const point of points) fillDisc(canvas, point, radius, LANDMARK_COLOUR);
}

/** Chooses the position next to a face, inside the image, that covers the least of the occupied boxes. */
function placeLabel(
  { x1, y1, x2, y2 }: Box,
  size: Size,
  image: Size,
  occupied: readonly Box[],
  gap: number,
): Box {
  const above = y1 - gap - size.height;
  const below = y2 + gap;
  const positions: readonly (readonly [x: number, y: number])[] = [
    [x1, above],
    [x2 - size.width, above],
    [x1, below],
    [x2 - size.width, below],
    [x2 + gap, y1],
    [x1 - gap - size.width, y1],
  ];
  const boxes = positions.map(([x, y]) => clampToImage(image, size, x, y));
  const coveredAreas = boxes.map((box) =>
    occupied.reduce((sum, other) => sum + boxArea(intersectBoxes(box, other)), 0),
  );
  return boxes[coveredAreas.indexOf(Math.min(...coveredAreas))]!;
}

function clampToImage(image: Size, { width, height }: Size, x: number, y: number): Box {
  const x1 = Math.round(Math.max(0, Math.min(x, image.width - width)));
  const y1 = Math.round(Math.max(0, Math.min(y, image.height - height)));
  return { x1, y1, x2: x1 + width, y2: y1 + height };
}

/** Measures a label in image pixels: letters are one font pixel apart, lines and margins two. */
function measureLabel(lines: readonly string[], fontPixel: number): Size {
  const letters = Math.max(...lines.map(({ length }) => length));
  return {
    width: (letters * (GLYPH_WIDTH + 1) - 1 + 4) * fontPixel,
    height: (lines.length * (GLYPH_HEIGHT + 2) - 2 + 4) * fontPixel,
  };
}

function drawLabel(canvas: Pixels, lines: readonly string[], place: Box, fontPixel: number): void {
  fillBox(canvas, place, OUTLINE_COLOUR, LABEL_OPACITY);
  lines.forEach((line, i) => {
    const top = place.y1 + (2 + i * (GLYPH_HEIGHT + 2)) * fontPixel;
    drawText(canvas, line, place.x1 + 2 * fontPixel, top, fontPixel);
  });
}

function drawText(canvas: Pixels, text: string, left: number, top: number, fontPixel: number): void {
  [...text].forEach((character, i) => {
    findGlyph(character).forEach((row, y) => {
      row.forEach((isSet, x) => {
        if (!isSet) return;
        const x1 = left + (i * (GLYPH_WIDTH + 1) + x) * fontPixel;
        const y1 = top + y * fontPixel;
        fillBox(canvas, { x1, y1, x2: x1 + fontPixel, y2: y1 + fontPixel }, TEXT_COLOUR);
      });
    });
  });
}

/** Draws the edges of a box on its inside, so that they stay visible at the edge of the image. */
function strokeBox(canvas: Pixels, box: Box, lineWidth: number, colour: Colour): void {
  fillBox(canvas, { ...box, x2: box.x1 + lineWidth }, colour);
  fillBox(canvas, { ...box, x1: box.x2 - lineWidth }, colour);
  fillBox(canvas, { ...box, y2: box.y1 + lineWidth }, colour);
  fillBox(canvas, { ...box, y1: box.y2 - lineWidth }, colour);
}

function fillBox(canvas: Pixels, box: Box, colour: Colour, opacity = 1): void {
  for (let y = Math.round(box.y1); y < Math.round(box.y2); y++)
    for (let x = Math.round(box.x1); x < Math.round(box.x2); x++) blend(canvas, x, y, colour, opacity);
}

/** Draws an anti-aliased disc. */
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
