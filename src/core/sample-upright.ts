import { ALL_WEIGHTS, firstWeight, type Grid, type PixelRange, thirdWeight } from "./sample-grid.ts";
import type { Pixels } from "./types.ts";

/** Black pixels on either side of a line, for samples that reach over its ends. */
const MARGIN = 3;

/**
 * Fills the planes of a crop that is not turned, as `sampleTurned` would: there all pixels of a row share the
 * weights of three lines, which are blended once, and all pixels of a column share theirs.
 */
export function sampleUpright(
  { width, height, data }: Pixels,
  grid: Grid,
  { scale, offset }: PixelRange,
  planes: Float32Array,
): void {
  const { side, gap } = grid;
  const plane = side * side;
  const columns = tapsOf(grid.x, grid.a, gap, side, width);
  const line = new Float64Array((width + 2 * MARGIN) * 3);
  const first = Math.max(0, columns.starts[0]!) * 3;
  const last = Math.min(width, columns.starts[side - 1]! + 3) * 3;
  for (let row = 0, at = 0; row < side; row++) {
    const y = grid.y + grid.a * row;
    const top = Math.floor(y);
    if (top <= -3 || top >= height) {
      at += side;
      continue;
    }
    blendLines(data, width * 3, height, top, y - top, gap, first, last, line);
    for (let column = 0; column < side; column++, at++) {
      const from = (columns.starts[column]! + MARGIN) * 3;
      const x1 = columns.weights[column * 3]!;
      const x2 = columns.weights[column * 3 + 1]!;
      const x3 = columns.weights[column * 3 + 2]!;
      planes[at] = (line[from]! * x1 + line[from + 3]! * x2 + line[from + 6]! * x3) * scale + offset;
      planes[at + plane] =
        (line[from + 1]! * x1 + line[from + 4]! * x2 + line[from + 7]! * x3) * scale + offset;
      planes[at + 2 * plane] =
        (line[from + 2]! * x1 + line[from + 5]! * x2 + line[from + 8]! * x3) * scale + offset;
    }
  }
}

/** For each column of a crop the first of the three pixels that it takes from, and their weights. */
function tapsOf(x: number, step: number, gap: number, side: number, width: number) {
  const starts = new Int32Array(side);
  const weights = new Float64Array(3 * side);
  for (let column = 0; column < side; column++) {
    const place = x + step * column;
    const left = Math.floor(place);
    // Farther outside there is nothing but the margin.
    starts[column] = Math.min(width, Math.max(-MARGIN, left));
    const x1 = firstWeight(place - left, gap);
    const x3 = thirdWeight(place - left, gap);
    weights.set([x1 / ALL_WEIGHTS, (2 - x1 - x3) / ALL_WEIGHTS, x3 / ALL_WEIGHTS], column * 3);
  }
  return { starts, weights };
}

/** Blends three lines of an image from byte `first` to `last`; lines outside it are black. */
function blendLines(
  data: Uint8Array,
  stride: number,
  height: number,
  top: number,
  bottom: number,
  gap: number,
  first: number,
  last: number,
  line: Float64Array,
): void {
  const isInside = (row: number) => Number(row >= 0 && row < height);
  const startOf = (row: number) => Math.min(height - 1, Math.max(0, row)) * stride;
  const [y1, y3] = [firstWeight(bottom, gap), thirdWeight(bottom, gap)];
  const [w1, w2, w3] = [y1 * isInside(top), (2 - y1 - y3) * isInside(top + 1), y3 * isInside(top + 2)];
  const [from1, from2, from3] = [startOf(top), startOf(top + 1), startOf(top + 2)];
  for (let i = first; i < last; i++)
    line[i + MARGIN * 3] = data[from1 + i]! * w1 + data[from2 + i]! * w2 + data[from3 + i]! * w3;
}
