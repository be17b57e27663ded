import { deflateSync } from "node:zlib";
import { encodeChunk, PNG_SIGNATURE } from "./image/png-header.ts";

const SIDE = 256;
const BACKGROUND = 172;

/** Grey ellipses, painted in this order: skin, eyes, eyebrows, nose, mouth. */
const ELLIPSES = [
  { x: 128, y: 128, width: 104, height: 176, grey: 200 },
  { x: 102, y: 110, width: 28, height: 18, grey: 98 },
  { x: 154, y: 110, width: 28, height: 18, grey: 98 },
  { x: 100, y: 102, width: 44, height: 12, grey: 64 },
  { x: 156, y: 102, width: 44, height: 12, grey: 64 },
  { x: 128, y: 142, width: 24, height: 10, grey: 174 },
  { x: 128, y: 160, width: 34, height: 6, grey: 156 },
];

/** Draws a face that the detector recognizes, and encodes it as a PNG of 256 by 256 pixels. */
export function createSyntheticFace(): Uint8Array {
  // IHDR: width, height, bit depth 8, greyscale, default compression and filter, not interlaced.
  const header = Buffer.from([0, 0, SIDE >> 8, SIDE & 0xff, 0, 0, SIDE >> 8, SIDE & 0xff, 8, 0, 0, 0, 0]);
  return Buffer.concat([
    Buffer.from(PNG_SIGNATURE),
    encodeChunk("IHDR", header),
    encodeChunk("IDAT", deflateSync(drawRows())),
    encodeChunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Draws the rows of pixels, each after filter type 0 (none). */
function drawRows(): Uint8Array {
  const rows = new Uint8Array(SIDE * (1 + SIDE));
  for (let y = 0; y < SIDE; y++) {
    const row = rows.subarray(y * (1 + SIDE) + 1, (y + 1) * (1 + SIDE)).fill(BACKGROUND);
    for (const ellipse of ELLIPSES) row.fill(ellipse.grey, ...findSpan(ellipse, y));
  }
  return rows;
}

/** Finds the first column of an ellipse in a row, and the column after its last. */
function findSpan({ x, y, width, height }: (typeof ELLIPSES)[number], row: number): [number, number] {
  const half = (width / 2) * Math.sqrt(Math.max(0, 1 - ((row - y) / (height / 2)) ** 2));
  return [Math.floor(x - half) + 1, Math.ceil(x + half)];
}
