import { drawFace } from "../photos/draw-face.ts";
import type { Box } from "../photos/geometry.ts";
import { make } from "../site/elements.ts";

/** Side in pixels: 48 CSS pixels on a screen with a device pixel ratio of 2. */
const SIDE = 96;

/** Draws a face of a photo as a square. */
export function cropFace(image: HTMLImageElement, box: Box, label: string): HTMLCanvasElement {
  const canvas = createCanvas(label);
  drawFace(canvas, image, box);
  return canvas;
}

/** More crops would need too much memory: one has 36 KiB. */
const MAX_CROPS = 1_000;

/**
 * The faces that were enrolled in this tab. The service stores no photos, so the page can show only these, and only
 * until it is reloaded.
 */
export class KnownCrops {
  readonly #crops = new Map<string, HTMLCanvasElement>();

  add(galleryId: string, personId: string, faceId: string, crop: HTMLCanvasElement): void {
    this.#crops.set(`${galleryId}/${personId}/${faceId}`, crop);
    const [oldest] = this.#crops.keys();
    if (this.#crops.size > MAX_CROPS) this.#crops.delete(oldest!);
  }

  /** Returns a copy of the crop, as an element can be in one place only. */
  get(galleryId: string, personId: string, faceId: string, label: string): HTMLCanvasElement | undefined {
    const crop = this.#crops.get(`${galleryId}/${personId}/${faceId}`);
    if (!crop) return undefined;
    const copy = createCanvas(label);
    copy.getContext("2d")?.drawImage(crop, 0, 0);
    return copy;
  }
}

function createCanvas(label: string): HTMLCanvasElement {
  return make("canvas", { width: SIDE, height: SIDE, class: "face-crop", role: "img", "aria-label": label });
}
