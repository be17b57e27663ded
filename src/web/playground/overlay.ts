import { placeOver } from "../photos/draw-face.ts";
import type { Box } from "../photos/geometry.ts";
import { make, makeSvg } from "../site/elements.ts";
import { describeFace, isSameFace } from "./faces.ts";
import type { Photo } from "./photo.ts";
import type { Face, Point } from "./responses.ts";

/** Ranges of the 68 landmarks that form a line, and whether the line is closed. */
const CONTOURS: readonly (readonly [from: number, to: number, isClosed: boolean])[] = [
  [0, 16, false],
  [17, 21, false],
  [22, 26, false],
  [27, 30, false],
  [31, 35, false],
  [36, 41, true],
  [42, 47, true],
  [48, 59, true],
  [60, 67, true],
];

/** Space for a face's number, as a share of the photo's height. It suffices for photos displayed small. */
const NUMBER_SPACE = 0.15;

/** Up to this many faces, small ones are numbered as well; among more, the numbers would cover the neighbours. */
const MAX_NUMBERED = 12;

/** Draws boxes and landmarks over a photo, and a button on each face. The overlay scales with the photo. */
export function drawOverlay(photo: Photo, onSelect: (box: Box) => void): readonly Element[] {
  const { width, height, faces } = photo;
  const drawing = makeSvg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    "aria-hidden": "true",
    class: "drawing",
  });
  drawing.append(...faces.map(drawFace));
  const buttons = faces.map((face, i) => createButton(photo, face, i, onSelect));
  return [drawing, ...buttons];
}

/** Highlights the selected face. */
export function markSelected(frame: Element, { faces, selectedBox }: Photo): void {
  const drawings = frame.querySelectorAll(".face");
  const buttons = frame.querySelectorAll(".face-button");
  faces.forEach(({ box }, i) => {
    const isSelected = isSameFace(selectedBox, box);
    drawings[i]?.classList.toggle("selected", isSelected);
    buttons[i]?.setAttribute("aria-pressed", String(isSelected));
  });
}

function drawFace({ box: { x1, y1, x2, y2 }, landmarks = [] }: Face): SVGElement {
  const rectangle = { x: x1, y: y1, width: x2 - x1, height: y2 - y1, rx: (x2 - x1) / 30 };
  const radius = (x2 - x1) / 120;
  return makeSvg(
    "g",
    { class: "face" },
    makeSvg("rect", { ...rectangle, class: "rim" }),
    makeSvg("rect", { ...rectangle, class: "box" }),
    ...(landmarks.length > 0 ? drawLandmarks(landmarks, radius) : []),
  );
}

function drawLandmarks(landmarks: readonly Point[], radius: number): SVGElement[] {
  const contours = CONTOURS.map(([from, to, isClosed]) => {
    const points = landmarks.slice(from, to + 1).map(({ x, y }) => `${x} ${y}`);
    return makeSvg("path", { d: `M${points.join("L")}${isClosed ? "Z" : ""}`, class: "contour" });
  });
  return [
    ...contours,
    ...landmarks.map(({ x, y }) => makeSvg("circle", { cx: x, cy: y, r: radius, class: "point" })),
  ];
}

function createButton(photo: Photo, face: Face, index: number, onSelect: (box: Box) => void): HTMLElement {
  // The number may not be drawn on a small face, so the name does not depend on it.
  const name = `Face ${index + 1}: select this face (${describeFace(face)})`;
  const isNumbered = photo.faces.length <= MAX_NUMBERED;
  const classes = `face-button ${numberPosition(face.box, photo)}${isNumbered ? " numbered" : ""}`;
  const number = make("span", { class: "number" }, String(index + 1));
  const button = make("button", { type: "button", class: classes, "aria-label": name }, number);
  placeOver(button, face.box, photo);
  button.addEventListener("click", () => onSelect(face.box));
  return button;
}

/** Chooses where to draw the number of a face so that it stays inside the photo and, if possible, covers no face. */
function numberPosition(face: Box, { height, faces }: Photo): "above" | "below" | "within" {
  const { x1, y1, y2 } = face;
  const space = height * NUMBER_SPACE;
  const isFree = (top: number) =>
    faces.every(
      ({ box }) => box === face || !overlaps({ x1, y1: top, x2: x1 + space, y2: top + space }, box),
    );
  const [fitsAbove, fitsBelow] = [y1 >= space, height - y2 >= space];
  if (fitsAbove && (isFree(y1 - space) || !fitsBelow)) return "above";
  if (fitsBelow && (isFree(y2) || !fitsAbove)) return "below";
  return fitsAbove ? "above" : "within";
}

function overlaps(one: Box, other: Box): boolean {
  return one.x1 < other.x2 && other.x1 < one.x2 && one.y1 < other.y2 && other.y1 < one.y2;
}
