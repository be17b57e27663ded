import { estimatesOf } from "../photos/attributes.ts";
import { drawFace } from "../photos/draw-face.ts";
import { drawQuality } from "../photos/draw-quality.ts";
import { make } from "../site/elements.ts";
import { capitalize } from "../site/words.ts";
import { drawHeatMap } from "./heat-map.ts";
import type { Photo } from "./photo.ts";
import type { Face } from "./responses.ts";

/** Side of a thumbnail in pixels: 48 CSS pixels on a screen with a device pixel ratio of 3. */
const THUMBNAIL_SIDE = 144;

/** The texts of a row. */
export interface RowTexts {
  readonly title: string;
  /** Where the face is in the response. */
  readonly key: string;
  /** What the response says about the face beside its own fields. */
  readonly summary?: string | undefined;
}

/** Draws a row for a face: thumbnail, what is known of it, and the given button that selects it. */
export function drawFaceRow(
  photo: Photo,
  face: Face,
  { title, key, summary }: RowTexts,
  selectButton: HTMLButtonElement,
): HTMLElement {
  const heading = make("h3", {}, title, " ", make("code", {}, key));
  return make(
    "li",
    { class: "face-row small" },
    // The page does not have the photo of a URL.
    ...(photo.url ? [] : [drawThumbnail(photo, face, title)]),
    make(
      "div",
      { class: "face-text" },
      heading,
      ...(summary ? [make("p", { class: "face-summary" }, summary)] : []),
      ...drawAttributes(face),
      ...drawQuality(face),
      ...(face.embedding ? [drawHeatMap(face.embedding.values)] : []),
    ),
    selectButton,
  );
}

function drawAttributes(face: Face): HTMLElement[] {
  const parts = estimatesOf(face).flatMap(({ text, unit, percent }, i) => {
    const value = make("strong", {}, i > 0 ? text : capitalize(text));
    const estimate = make("span", { class: "estimate" }, value, unit);
    return i > 0 ? [", ", estimate, ` (${percent})`] : [estimate, ` (${percent} confidence)`];
  });
  return parts.length > 0 ? [make("p", { class: "face-summary" }, ...parts)] : [];
}

/** Draws a face of a photo as a square. */
export function drawThumbnail({ image, name }: Photo, { box }: Face, title: string): HTMLElement {
  const side = { width: THUMBNAIL_SIDE, height: THUMBNAIL_SIDE };
  const canvas = make("canvas", { ...side, role: "img", "aria-label": `${title} in ${name}` });
  drawFace(canvas, image, box);
  return canvas;
}
