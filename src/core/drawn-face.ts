import { deflateSync } from "node:zlib";
import { chunkOf, PNG_SIGNATURE } from "./image/png-header.ts";

const SIDE = 256;
const BACKGROUND = 60;

/** A face as grey ovals, each over those before: skin, eyes, brows, nose, mouth. */
const OVALS = [
  { x: 128, y: 128, width: 124, height: 160, grey: 200 },
  { x: 102, y: 112, width: 24, height: 10, grey: 50 },
  { x: 154, y: 112, width: 24, height: 10, grey: 50 },
  { x: 102, y: 96, width: 36, height: 8, grey: 80 },
  { x: 154, y: 96, width: 36, height: 8, grey: 80 },
  { x: 128, y: 140, width: 16, height: 12, grey: 150 },
  { x: 128, y: 170, width: 48, height: 14, grey: 100 },
];

/** A drawing that the networks take for a face, as a PNG: something to try everything on before anyone asks. */
export function drawnFace(): Uint8Array {
  // Width, height, eight bits of grey; compressed and filtered in the only ways there are, not interlaced.
  const header = Buffer.from([0, 0, SIDE >> 8, SIDE & 0xff, 0, 0, SIDE >> 8, SIDE & 0xff, 8, 0, 0, 0, 0]);
  return Buffer.concat([
    Buffer.from(PNG_SIGNATURE),
    chunkOf("IHDR", header),
    chunkOf("IDAT", deflateSync(drawnRows())),
    chunkOf("IEND", Buffer.alloc(0)),
  ]);
}

/** The rows of pixels, each after a zero, which says that it is not filtered. */
function drawnRows(): Uint8Array {
  const rows = new Uint8Array(SIDE * (1 + SIDE));
  for (let y = 0; y < SIDE; y++) {
    const row = rows.subarray(y * (1 + SIDE) + 1, (y + 1) * (1 + SIDE)).fill(BACKGROUND);
    for (const oval of OVALS) row.fill(oval.grey, ...spanOf(oval, y));
  }
  return rows;
}

/** Where an oval begins and ends in a row. */
function spanOf({ x, y, width, height }: (typeof OVALS)[number], row: number): [number, number] {
  const half = (width / 2) * Math.sqrt(Math.max(0, 1 - ((row - y) / (height / 2)) ** 2));
  return [Math.floor(x - half) + 1, Math.ceil(x + half)];
}
