import { createMemory, PAGE_BYTES } from "../../wasm/module.ts";
import { PIXEL_BYTES } from "../crop/image-memory.ts";
import { takePixels } from "../image/pixel-memory.ts";
import type { Pixels } from "../types.ts";
import { AT_ONCE, colourIn, widenIn } from "./colour-code.ts";
import { COMPONENTS, type Codes, type Layout, readLayout } from "./layout.ts";
import { TABLE_WORDS, writeFirstTable, writeOtherTable } from "./lookup.ts";
import { PART, readBlocksIn, reverseIn, SCALE } from "./read-code.ts";
import { BLOCK_BYTES, BLOCK_SIDE, transformIn } from "./transform-code.ts";

/** Pixels on a side of an image: fewer are drawn in other ways by libjpeg, for more there is no memory. */
const LEAST_SIDE = 16;
const MOST_SIDE = 2048;

/** Most bytes after the header: some four bits a pixel of the largest image. */
const MOST_DATA = 2 * 1024 * 1024;

const MOST_SHARING = 2;
const WORD_BYTES = 4;
const END_OF_IMAGE = Buffer.from([0xff, 0xd9]);

/** The order of coefficients in a file, from the lower to the higher frequencies: their places in a block. */
const ZIGZAG = [
  [0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5],
  [12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28],
  [35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51],
  [58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63],
].flat();
const SCALES_BYTES = ZIGZAG.length * SCALE.bytes;

// An image is decoded in strips of units, which have one block of each colour difference and as many of brightness as
// share it. Of each there are as many lines as a strip has, and those before and after them that lines are blended with.
const LINE_MARGIN = AT_ONCE;
const LINE_BYTES = LINE_MARGIN + MOST_SIDE + 2 * AT_ONCE;
const MOST_LINES = BLOCK_SIDE * MOST_SHARING;
const PLANE_BYTES = (1 + MOST_LINES + 1) * LINE_BYTES;
const MOST_UNIT_PARTS = MOST_SHARING ** 2 + COMPONENTS - 1;
// Two by two pixels that share their colour make half as many units, of twice as many blocks.
const MOST_BLOCKS = COMPONENTS * (MOST_SIDE / BLOCK_SIDE);

const { places: AT, length: memoryBytes } = placesOf({
  lasts: COMPONENTS * WORD_BYTES,
  parts: MOST_UNIT_PARTS * PART.bytes,
  scales: COMPONENTS * SCALES_BYTES,
  tables: 2 * COMPONENTS * TABLE_WORDS * WORD_BYTES,
  blocks: MOST_BLOCKS * BLOCK_BYTES,
  luma: PLANE_BYTES,
  blue: PLANE_BYTES,
  red: PLANE_BYTES,
  wideBlue: LINE_BYTES,
  wideRed: LINE_BYTES,
  pixels: (1 + MOST_LINES) * MOST_SIDE * PIXEL_BYTES + AT_ONCE * PIXEL_BYTES,
  data: MOST_DATA,
  reversed: MOST_DATA,
});
const memory = createMemory(Math.ceil(memoryBytes / PAGE_BYTES));
const bytes = new Uint8Array(memory.buffer);
const words = new Int32Array(memory.buffer);
const numbers = new Uint16Array(memory.buffer);

const reverse = reverseIn(memory);
const readBlocks = readBlocksIn(memory);
const transform = transformIn(memory);
const widen = widenIn(memory);
const colour = colourIn(memory);

/**
 * Decodes a JPEG of the most common kind, to the same pixels as libjpeg but faster, as it does nothing else, and in
 * memory that strangers' bytes cannot reach out of. Gives nothing for one of another kind, or with the least fault.
 */
export function decodeBaseline(encoded: Uint8Array): Pixels | undefined {
  try {
    return pixelsOf(readLayout(encoded));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function pixelsOf(layout: Layout): Pixels {
  const { width, height, sharing } = layout;
  if (Math.min(width, height) < LEAST_SIDE || Math.max(width, height) > MOST_SIDE)
    throw new RangeError("JPEG has an uncommon size");
  const parts = writeParts(layout);
  const { top, bits } = writeData(layout.data);

  const side = BLOCK_SIDE * sharing;
  const units = Math.ceil(width / side);
  const pixels = takePixels(width, height);
  let written = 0;
  let position = 0;
  for (let above = 0; above < height; above += side) {
    position = readBlocks(top, position, AT.parts, AT.parts + parts * PART.bytes, AT.blocks, units);
    if (position < 0 || position > bits) {
      // The next image finds zeros there.
      bytes.fill(0, AT.blocks, AT.blocks + MOST_BLOCKS * BLOCK_BYTES);
      throw new RangeError("JPEG has faulty data");
    }
    transformUnits(sharing, parts, units);
    const drawn = drawStrip(layout, above);
    pixels.data.set(bytes.subarray(AT.pixels, AT.pixels + drawn), written);
    written += drawn;
  }
  if (bits - position >= 8) throw new RangeError("JPEG has data after its last block");
  return pixels;
}

/** Writes what is known of each block of a unit, and gives their number. */
function writeParts({ components, sharing }: Layout): number {
  const tables = new Map<Codes, number>();
  const tableOf = (codes: Codes, write: (words: Int32Array, codes: Codes) => void) => {
    const known = tables.get(codes);
    if (known !== undefined) return known;
    const address = AT.tables + tables.size * TABLE_WORDS * WORD_BYTES;
    write(words.subarray(address / WORD_BYTES, address / WORD_BYTES + TABLE_WORDS), codes);
    tables.set(codes, address);
    return address;
  };
  let part = AT.parts;
  components.forEach(({ scales, first, others }, i) => {
    writeScales(AT.scales + i * SCALES_BYTES, scales);
    words[AT.lasts / WORD_BYTES + i] = 0;
    for (let blocks = i === 0 ? sharing ** 2 : 1; blocks > 0; blocks--) {
      words[(part + PART.first) / WORD_BYTES] = tableOf(first, writeFirstTable);
      words[(part + PART.others) / WORD_BYTES] = tableOf(others, writeOtherTable);
      words[(part + PART.scales) / WORD_BYTES] = AT.scales + i * SCALES_BYTES;
      words[(part + PART.last) / WORD_BYTES] = AT.lasts + i * WORD_BYTES;
      part += PART.bytes;
    }
  });
  return (part - AT.parts) / PART.bytes;
}

function writeScales(address: number, scales: Uint8Array): void {
  ZIGZAG.forEach((place, i) => {
    const at = address + i * SCALE.bytes;
    numbers[(at + SCALE.place) / 2] = 2 * place;
    numbers[(at + SCALE.scale) / 2] = scales[i]!;
  });
}

/** Writes what is to be read, and gives where it ends and how many bits it has. */
function writeData(data: Uint8Array): { readonly top: number; readonly bits: number } {
  const length = Buffer.from(data.buffer, data.byteOffset, data.length).indexOf(END_OF_IMAGE);
  if (length <= 0 || length > MOST_DATA) throw new RangeError("JPEG has an uncommon length");
  bytes.set(data.subarray(0, length + END_OF_IMAGE.length), AT.data);
  const top = AT.reversed + length;
  const last = reverse(AT.data, AT.data + length, top);
  return { top, bits: 8 * (top - last) };
}

/** Makes the samples of a strip. */
function transformUnits(sharing: number, parts: number, units: number): void {
  const draw = (part: number, to: number, toStep: number) =>
    transform(AT.blocks + part * BLOCK_BYTES, parts * BLOCK_BYTES, units, to, toStep, LINE_BYTES);
  for (let part = 0; part < sharing ** 2; part++) {
    const [column, row] = [part % sharing, Math.floor(part / sharing)];
    draw(part, lineOf(AT.luma, row * BLOCK_SIDE) + column * BLOCK_SIDE, sharing * BLOCK_SIDE);
  }
  draw(parts - 2, lineOf(AT.blue, 0), BLOCK_SIDE);
  draw(parts - 1, lineOf(AT.red, 0), BLOCK_SIDE);
}

/** Draws a strip, so many lines from the top, and gives how many bytes of pixels these are. */
function drawStrip({ width, height, sharing }: Layout, above: number): number {
  const lines = BLOCK_SIDE * sharing;
  const left = height - above;
  if (sharing === 1) return drawLines(0, Math.min(lines, left), width, sharing);

  for (const plane of [AT.blue, AT.red]) {
    for (let line = 0; line < BLOCK_SIDE; line++) repeatEnds(plane, line, Math.ceil(width / sharing));
    if (above === 0) copyLine(plane, 0, -1);
    if (left <= lines) copyLine(plane, Math.ceil(left / sharing) - 1, Math.ceil(left / sharing));
  }
  // Its last line waits for the next strip, of which it takes colour.
  const drawn = drawLines(above === 0 ? 0 : -1, left <= lines ? left : lines - 1, width, sharing);
  copyLine(AT.luma, lines - 1, -1);
  for (const plane of [AT.blue, AT.red]) copyLine(plane, BLOCK_SIDE - 1, -1);
  return drawn;
}

function drawLines(from: number, end: number, width: number, sharing: number): number {
  let to = AT.pixels;
  for (let line = from; line < end; line++, to += width * PIXEL_BYTES) {
    const toEnd = to + width * PIXEL_BYTES;
    if (sharing === 1) {
      colour(lineOf(AT.luma, line), lineOf(AT.blue, line), lineOf(AT.red, line), to, toEnd);
      continue;
    }
    const near = line >> 1;
    const far = line % 2 === 0 ? near - 1 : near + 1;
    widen(lineOf(AT.blue, near), lineOf(AT.blue, far), AT.wideBlue, AT.wideBlue + width);
    widen(lineOf(AT.red, near), lineOf(AT.red, far), AT.wideRed, AT.wideRed + width);
    colour(lineOf(AT.luma, line), AT.wideBlue, AT.wideRed, to, toEnd);
  }
  return to - AT.pixels;
}

function lineOf(plane: number, line: number): number {
  return plane + LINE_MARGIN + (1 + line) * LINE_BYTES;
}

function copyLine(plane: number, line: number, to: number): void {
  const from = lineOf(plane, line) - LINE_MARGIN;
  bytes.copyWithin(lineOf(plane, to) - LINE_MARGIN, from, from + LINE_BYTES);
}

function repeatEnds(plane: number, line: number, length: number): void {
  const first = lineOf(plane, line);
  bytes[first - 1] = bytes[first]!;
  bytes[first + length] = bytes[first + length - 1]!;
}

/** Places in memory for so many bytes each, one after another, and the length of all. */
function placesOf<Name extends string>(lengths: Readonly<Record<Name, number>>) {
  let length = 0;
  const places = {} as Record<Name, number>;
  for (const name of Object.keys(lengths) as Name[]) {
    places[name] = length;
    length += Math.ceil(lengths[name] / AT_ONCE) * AT_ONCE;
  }
  return { places: places as Readonly<Record<Name, number>>, length };
}
