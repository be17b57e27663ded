import { make, spoken } from "./elements.ts";
import type { Face } from "./faces.ts";
import type { Photo } from "./store.ts";

/** Limits of the quality check (spec, 8). */
const LEAST_FACE_SIDE = 60;
const LEAST_LIGHT = 70;
const MOST_YAW_DEGREES = 50;

/** Pixels of a thumbnail's side, for screens of up to three dots a pixel. */
const THUMBNAIL_SIDE = 216;
const THUMBNAIL_MARGIN = 0.15;

/** What a card says beside what is known of its face. */
export interface CardTexts {
  readonly title: string;
  /** How it came to be this face. */
  readonly origin: string;
}

/** Draws what is known of a face: a thumbnail, how it looks, the numbers of its quality, and a button to use it. */
export function drawFaceCard(
  photo: Photo,
  face: Face,
  { title, origin }: CardTexts,
  use: HTMLButtonElement,
): HTMLElement {
  return make(
    "li",
    { class: "face-card" },
    drawThumbnail(photo, face, title),
    make("div", { class: "face-top" }, make("h3", {}, title), aboutFace(face, origin)),
    use,
    drawQuality(face),
  );
}

function aboutFace({ look }: Face, origin: string): HTMLElement {
  if (!look) return make("p", { class: "look" }, origin);
  return make(
    "p",
    { class: "look" },
    make("strong", {}, capitalised(look.gender)),
    ` ${Math.round(100 * look.genderConfidence)}% sure, `,
    make("strong", {}, look.age.replace("-", "–")),
    " years",
  );
}

function drawQuality({ size: [width, height], light, yawDegrees }: Face): HTMLElement {
  const turned = `${Math.abs(yawDegrees).toFixed(1)}°`;
  return make(
    "dl",
    { class: "quality" },
    measure(
      "Size",
      `${width} × ${height}`,
      Math.min(width, height) >= LEAST_FACE_SIDE,
      `≥ ${LEAST_FACE_SIDE}`,
    ),
    measure("Light", light.toFixed(1), light >= LEAST_LIGHT, `≥ ${LEAST_LIGHT}`),
    measure("Yaw", turned, Math.abs(yawDegrees) <= MOST_YAW_DEGREES, `≤ ${MOST_YAW_DEGREES}°`),
  );
}

function measure(name: string, value: string, passes: boolean, limit: string): HTMLElement {
  const [kind, sign] = passes ? (["passes", "✓"] as const) : (["fails", "✗"] as const);
  const verdict = make("span", { class: kind, "aria-hidden": "true" }, sign);
  return make(
    "div",
    {},
    make("dt", {}, name),
    make("dd", {}, verdict, spoken(`${kind}: `), value, make("small", {}, limit)),
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

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
