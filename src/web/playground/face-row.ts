import { drawFace } from "../photos/draw-face.ts";
import { make, visuallyHidden } from "../site/elements.ts";
import { capitalize } from "../site/words.ts";
import { boxFrom, type Face } from "./faces.ts";
import { roundDown, roundUp } from "./measurements.ts";
import type { Photo } from "./photo.ts";

/** Limits of the quality check (spec, 8). */
const MIN_FACE_SIDE = 60;
const MIN_LIGHT = 70;
const MAX_YAW_DEGREES = 50;

/** Side of a thumbnail in pixels: 48 CSS pixels on a screen with a device pixel ratio of 3. */
const THUMBNAIL_SIDE = 144;

/** The texts of a row. */
export interface RowTexts {
  readonly title: string;
  /** How the face was chosen; shown if there are no attributes. */
  readonly origin: string;
  /** The name of the face in the response, if it has one. */
  readonly key?: string | undefined;
}

/** Draws a row for a face: thumbnail, attributes, quality, and the given button that selects it. */
export function drawFaceRow(
  photo: Photo,
  face: Face,
  { title, origin, key }: RowTexts,
  selectButton: HTMLButtonElement,
): HTMLElement {
  const heading = make("h3", {}, title, ...(key ? [" ", make("code", {}, key)] : []));
  return make(
    "li",
    { class: "face-row small" },
    // The page does not have the photo of a URL.
    ...(photo.url ? [] : [drawThumbnail(photo, face, title)]),
    make("div", { class: "face-text" }, heading, drawFaceSummary(face, origin), drawQuality(face)),
    selectButton,
  );
}

function drawFaceSummary({ attributes }: Face, origin: string): HTMLElement {
  if (!attributes) return make("p", { class: "face-summary" }, origin);
  const { gender, genderConfidence, age } = attributes;
  return make(
    "p",
    { class: "face-summary" },
    make("strong", {}, capitalize(gender)),
    ` (${Math.floor(100 * genderConfidence)}% confidence), `,
    make("span", { class: "years" }, make("strong", {}, age.replace("-", "–")), " years"),
  );
}

function drawQuality({ size: [width, height], light, yawDegrees }: Face): HTMLElement {
  const yaw = Math.abs(yawDegrees);
  return make(
    "dl",
    { class: "quality" },
    drawMeasurement("Size", `${width} × ${height}`, {
      passes: Math.min(width, height) >= MIN_FACE_SIDE,
      limit: `at least ${MIN_FACE_SIDE} × ${MIN_FACE_SIDE}`,
    }),
    drawMeasurement("Light", roundDown(light), {
      passes: light >= MIN_LIGHT,
      limit: `at least ${MIN_LIGHT}`,
    }),
    drawMeasurement("Yaw", `${roundUp(yaw)}°`, {
      passes: yaw <= MAX_YAW_DEGREES,
      limit: `at most ${MAX_YAW_DEGREES}°`,
    }),
  );
}

function drawMeasurement(
  name: string,
  value: string,
  { passes, limit }: { readonly passes: boolean; readonly limit: string },
): HTMLElement {
  const [kind, sign] = passes ? ["passes", "✓"] : ["fails", "✗"];
  const verdict = make("span", { class: passes ? "good" : "bad", "aria-hidden": "true" }, sign!);
  return make(
    "div",
    { title: `${name} must be ${limit}` },
    make("dt", {}, name),
    make(
      "dd",
      {},
      verdict,
      visuallyHidden(`${kind}: `),
      value,
      ...(passes ? [] : [make("small", {}, limit)]),
    ),
  );
}

/** Draws a face of a photo as a square. */
export function drawThumbnail({ image, name }: Photo, { rectangle }: Face, title: string): HTMLElement {
  const side = { width: THUMBNAIL_SIDE, height: THUMBNAIL_SIDE };
  const canvas = make("canvas", { ...side, role: "img", "aria-label": `${title} in ${name}` });
  drawFace(canvas, image, boxFrom(rectangle));
  return canvas;
}
