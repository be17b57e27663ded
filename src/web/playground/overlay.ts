import type { Point, Rectangle } from "./answers.ts";
import { make, makeSvg, spoken } from "./elements.ts";
import { describeFace, type Face, isSameFace } from "./faces.ts";
import type { Photo } from "./store.ts";

/** Runs of the 68 points that are joined by a line, and whether it is closed. */
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

/** The part of a photo's height that a number needs above or below a face, also where the photo is shown small. */
const NUMBER_ROOM = 0.15;

/** Draws frames and points over a photo, with a button on each face; it scales with the photo. */
export function drawOverlay(photo: Photo, onChoose: (box: Rectangle) => void): readonly Element[] {
  const { width, height, faces } = photo;
  const drawing = makeSvg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    "aria-hidden": "true",
    class: "drawing",
  });
  drawing.append(...faces.map(drawFace));
  const buttons = faces.map((face, i) => buttonFor(photo, face, i, onChoose));
  return [drawing, ...buttons];
}

/** Shows which face is chosen. */
export function markChosen(frame: Element, { faces, chosen }: Photo): void {
  const drawings = frame.querySelectorAll(".face");
  const buttons = frame.querySelectorAll(".face-button");
  faces.forEach(({ rectangle }, i) => {
    const isChosen = isSameFace(chosen, rectangle);
    drawings[i]?.classList.toggle("chosen", isChosen);
    buttons[i]?.setAttribute("aria-pressed", String(isChosen));
  });
}

function drawFace({ rectangle: [x1, y1, x2, y2], look }: Face): SVGElement {
  const box = { x: x1, y: y1, width: x2 - x1, height: y2 - y1, rx: (x2 - x1) / 30 };
  const radius = (x2 - x1) / 120;
  return makeSvg(
    "g",
    { class: "face" },
    makeSvg("rect", { ...box, class: "rim" }),
    makeSvg("rect", { ...box, class: "box" }),
    ...(look ? drawPoints(look.points, radius) : []),
  );
}

function drawPoints(points: readonly Point[], radius: number): SVGElement[] {
  const contours = CONTOURS.map(([from, to, isClosed]) => {
    const places = points.slice(from, to + 1).map(({ x, y }) => `${x} ${y}`);
    return makeSvg("path", { d: `M${places.join("L")}${isClosed ? "Z" : ""}`, class: "contour" });
  });
  return [
    ...contours,
    ...points.map(({ x, y }) => makeSvg("circle", { cx: x, cy: y, r: radius, class: "point" })),
  ];
}

function buttonFor(photo: Photo, face: Face, index: number, onChoose: (box: Rectangle) => void): HTMLElement {
  const number = make("span", { class: "number" }, String(index + 1));
  const told = spoken(`: use this face (${describeFace(face)})`);
  const look = `face-button ${numberPlace(face.rectangle, photo)}`;
  const button = make("button", { type: "button", class: look }, spoken("Face "), number, told);
  place(button, face.rectangle, photo);
  button.addEventListener("click", () => onChoose(face.rectangle));
  return button;
}

/** Where the number of a face is inside the photo, whatever the face leaves of it. */
function numberPlace([, y1, , y2]: Rectangle, { height }: Photo): "above" | "below" | "within" {
  const room = height * NUMBER_ROOM;
  if (y1 >= room) return "above";
  return height - y2 >= room ? "below" : "within";
}

function place({ style }: HTMLElement, [x1, y1, x2, y2]: Rectangle, { width, height }: Photo): void {
  const percent = (part: number, whole: number) => `${(100 * part) / whole}%`;
  style.left = percent(x1, width);
  style.top = percent(y1, height);
  style.width = percent(x2 - x1, width);
  style.height = percent(y2 - y1, height);
}
