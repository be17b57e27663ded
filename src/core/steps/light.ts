import { type Box, boxCenter, longerSide, type Pixels } from "../geometry.ts";

/** Luma coefficients (ITU-R BT.601). */
export const LUMA = { red: 0.299, green: 0.587, blue: 0.114 };

/** Large faces are sampled at 64 to 127 rows and columns, which is enough for a mean. */
const MIN_SAMPLES_PER_SIDE = 64;

/**
 * Measures the mean luma, 0 to 255, of the ellipse inscribed in a face's box. Only the part inside the image counts;
 * if there is none, the result is 0. Large faces are subsampled.
 */
export function measureLight({ width, height, data }: Pixels, box: Box): number {
  const center = boxCenter(box);
  const radiusX = (box.x2 - box.x1) / 2;
  const radiusY = (box.y2 - box.y1) / 2;
  const step = Math.max(1, Math.floor(longerSide(box) / MIN_SAMPLES_PER_SIDE));
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
