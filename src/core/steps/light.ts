import { boxCenter, longerSide } from "../geometry.ts";
import type { Box, Pixels } from "../types.ts";

/** Share of red, green and blue in how bright a pixel looks (ITU-R BT.601). */
const LUMA = { red: 0.299, green: 0.587, blue: 0.114 };

/** Of a face larger than this, so many rows and so many pixels of a row are enough for a mean. */
const SAMPLES = 64;

/**
 * Mean luma, 0 to 255, of the ellipse that fills a face's box; the part outside the image does
 * not count. Of a large face, one of a few rows and columns is looked at. A box with no pixel inside gives 0.
 */
export function measureLight({ width, height, data }: Pixels, box: Box): number {
  const center = boxCenter(box);
  const radiusX = (box.x2 - box.x1) / 2;
  const radiusY = (box.y2 - box.y1) / 2;
  const step = Math.max(1, Math.floor(longerSide(box) / SAMPLES));
  let [red, green, blue, count] = [0, 0, 0, 0];
  for (let row = Math.max(0, Math.floor(box.y1)); row < Math.min(height, box.y2); row += step) {
    const y = (row + 0.5 - center.y) / radiusY;
    const reach = radiusX * Math.sqrt(Math.max(0, 1 - y * y));
    const from = Math.max(0, Math.round(center.x - reach));
    const to = Math.min(width, Math.round(center.x + reach));
    for (let column = from; column < to; column += step) {
      const at = (row * width + column) * 3;
      red += data[at]!;
      green += data[at + 1]!;
      blue += data[at + 2]!;
      count++;
    }
  }
  const total = LUMA.red * red + LUMA.green * green + LUMA.blue * blue;
  return count === 0 ? 0 : total / count;
}
