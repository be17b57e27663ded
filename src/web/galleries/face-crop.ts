import { make } from "../site/elements.ts";
import type { Box } from "./gallery-api.ts";

/** Side in pixels: 48 CSS pixels on a screen with a device pixel ratio of 2. */
const SIDE = 96;
/** Margin around the face, as a share of its longer side. */
const MARGIN = 0.15;

/** Draws a face of a photo as a square. */
export function cropFace(image: HTMLImageElement, { x1, y1, x2, y2 }: Box, label: string): HTMLCanvasElement {
  const canvas = make("canvas", {
    width: SIDE,
    height: SIDE,
    class: "face-crop",
    role: "img",
    "aria-label": label,
  });
  const side = Math.max(x2 - x1, y2 - y1) * (1 + 2 * MARGIN);
  const [left, top] = [(x1 + x2 - side) / 2, (y1 + y2 - side) / 2];
  canvas.getContext("2d")?.drawImage(image, left, top, side, side, 0, 0, SIDE, SIDE);
  return canvas;
}

/**
 * The faces that were enrolled in this tab. The service stores no photos, so the page can show only these, and only
 * until it is reloaded.
 */
export class KnownCrops {
  readonly #crops = new Map<string, HTMLCanvasElement>();

  add(galleryId: string, personId: string, faceId: string, crop: HTMLCanvasElement): void {
    this.#crops.set(`${galleryId}/${personId}/${faceId}`, crop);
  }

  /** Returns a copy of the crop, as an element can be in one place only. */
  get(galleryId: string, personId: string, faceId: string, label: string): HTMLCanvasElement | undefined {
    const crop = this.#crops.get(`${galleryId}/${personId}/${faceId}`);
    if (!crop) return undefined;
    const copy = make("canvas", {
      width: SIDE,
      height: SIDE,
      class: "face-crop",
      role: "img",
      "aria-label": label,
    });
    copy.getContext("2d")?.drawImage(crop, 0, 0);
    return copy;
  }
}
