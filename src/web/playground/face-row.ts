import { make, visuallyHidden } from "../site/elements.ts";
import { capitalize } from "../site/words.ts";
import type { Face } from "./faces.ts";
import type { Photo } from "./store.ts";

/** Limits of the quality check (spec, 8). */
const MIN_FACE_SIDE = 60;
const MIN_LIGHT = 70;
const MAX_YAW_DEGREES = 50;

/** Side of a thumbnail in pixels: 72 CSS pixels on a screen with a device pixel ratio of 3. */
const THUMBNAIL_SIDE = 216;
/** Margin around the face, as a share of its longer side. */
const THUMBNAIL_MARGIN = 0.15;

/** The texts of a card. */
export interface CardTexts {
  readonly title: string;
  /** How the face was chosen; shown if there are no attributes. */
  readonly origin: string;
}

/** Draws a card for a face: thumbnail, attributes, quality, and the given button that selects it. */
export function drawFaceCard(
  photo: Photo,
  face: Face,
  { title, origin }: CardTexts,
  selectButton: HTMLButtonElement,
): HTMLElement {
  return make(
    "li",
    { class: "face-card" },
    drawThumbnail(photo, face, title),
    make("div", {}, make("h3", {}, title), drawFaceSummary(face, origin)),
    selectButton,
    drawQuality(face),
  );
}

function drawFaceSummary({ attributes }: Face, origin: string): HTMLElement {
  if (!attributes) return make("p", { class: "face-summary" }, origin);
  const { gender, genderConfidence, age } = attributes;
  return make(
    "p",
    { class: "face-summary" },
    make("strong", {}, capitalize(gender)),
    ` (${Math.round(100 * genderConfidence)}% confidence), `,
    make("strong", {}, age.replace("-", "–")),
    " years",
  );
}

function drawQuality({ size: [width, height], light, yawDegrees }: Face): HTMLElement {
  const size = `${width} × ${height}`;
  const yaw = Math.abs(yawDegrees);
  return make(
    "dl",
    { class: "quality" },
    drawMeasurement("Size", size, Math.min(width, height) >= MIN_FACE_SIDE, `≥ ${MIN_FACE_SIDE}`),
    drawMeasurement("Light", light.toFixed(1), light >= MIN_LIGHT, `≥ ${MIN_LIGHT}`),
    drawMeasurement("Yaw", `${yaw.toFixed(1)}°`, yaw <= MAX_YAW_DEGREES, `≤ ${MAX_YAW_DEGREES}°`),
  );
}

function drawMeasurement(name: string, value: string, passes: boolean, limit: string): HTMLElement {
  const [kind, sign] = passes ? (["passes", "✓"] as const) : (["fails", "✗"] as const);
  const verdict = make("span", { class: kind, "aria-hidden": "true" }, sign);
  return make(
    "div",
    {},
    make("dt", {}, name),
    make("dd", {}, verdict, visuallyHidden(`${kind}: `), value, make("small", {}, limit)),
  );
}

function drawThumbnail(
  { image, name }: Photo,
  { rectangle: [x1, y1, x2, y2] }: Face,
  title: string,
): HTMLElement {
  const label = `${title} in ${name}`;
  const canvas = make("canvas", {
    width: THUMBNAIL_SIDE,
    height: THUMBNAIL_SIDE,
    role: "img",
    "aria-label": label,
  });
  const side = Math.max(x2 - x1, y2 - y1) * (1 + 2 * THUMBNAIL_MARGIN);
  const [left, top] = [(x1 + x2 - side) / 2, (y1 + y2 - side) / 2];
  canvas.getContext("2d")?.drawImage(image, left, top, side, side, 0, 0, THUMBNAIL_SIDE, THUMBNAIL_SIDE);
  return canvas;
}
