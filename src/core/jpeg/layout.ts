import { viewOf } from "../image/image-header.ts";
import { headerSegments, JFIF, SCAN, type Segment } from "../image/jpeg-header.ts";

/** Codes as a JPEG lists them: how many have 1, 2, ... 16 bits, and what they stand for, the shortest first. */
export interface Codes {
  readonly counts: Uint8Array;
  readonly symbols: Uint8Array;
}

/** How the brightness, or one of the two colour differences, is stored. */
export interface Component {
  /** What each coefficient is multiplied by, in the order of the file. */
  readonly scales: Uint8Array;
  /** Codes of the first coefficient of a block, and of all others. */
  readonly first: Codes;
  readonly others: Codes;
}

/** What a JPEG of the most common kind says before its data. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  /** So many pixels across, and as many down, share their colour. */
  readonly sharing: 1 | 2;
  readonly components: readonly [Component, Component, Component];
  /** All that follows the header. */
  readonly data: Uint8Array;
}

const BASELINE_FRAME = 0xc0;
const CODES = 0xc4;
const SCALES = 0xdb;

/** Of a block. */
export const COEFFICIENTS = 64;
const CODE_LENGTHS = 16;
const BIT_DEPTH = 8;
export const COMPONENTS = 3;

/** Bytes of a frame and of a scan: those before the components, those of each, and all. */
const FRAME = { before: 6, each: 3, length: 6 + 3 * COMPONENTS };
const SCAN_HEADER = { before: 1, each: 2, length: 1 + 2 * COMPONENTS + 3 };

/** The samples of a component for one of the coarsest, across and down, as a frame tells them. */
const ONE_SAMPLE = 0x11;
const TWO_BY_TWO_SAMPLES = 0x22;

/**
 * Reads the header of a JPEG that has one scan of brightness and colours in 8 bits, where every pixel has its own colour
 * or two by two share it. Throws RangeError for any other: there are many kinds, all of them rare.
 */
export function readLayout(encoded: Uint8Array): Layout {
  const view = viewOf(encoded);
  const scales = new Map<number, Uint8Array>();
  const codes = new Map<number, Codes>();
  let frame: Segment | undefined;
  let scan: Segment | undefined;
  for (const segment of headerSegments(view)) {
    if (segment.marker === SCALES) readScales(encoded, segment, scales);
    else if (segment.marker === CODES) readCodes(encoded, segment, codes);
    else if (segment.marker === BASELINE_FRAME && !frame) frame = segment;
    else if (segment.marker === SCAN) scan = segment;
    else demand(segment.marker === JFIF);
  }
  if (!frame || !scan) throw uncommon();
  demand(frame.end - frame.content === FRAME.length && scan.end - scan.content === SCAN_HEADER.length);
  demand(view.getUint8(frame.content) === BIT_DEPTH && view.getUint8(frame.content + 5) === COMPONENTS);
  demand(view.getUint8(scan.content) === COMPONENTS);

  const inFrame = frame.content + FRAME.before;
  const inScan = scan.content + SCAN_HEADER.before;
  const component = (i: number): Component => {
    const [id, samples, scalesId] = encoded.subarray(inFrame + FRAME.each * i);
    const [idInScan, codesIds] = encoded.subarray(inScan + SCAN_HEADER.each * i);
    // By these numbers, and no others, readers know brightness and colours where nothing else tells.
    demand(id === i + 1 && idInScan === id);
    demand(i === 0 || samples === ONE_SAMPLE);
    return {
      scales: found(scales, scalesId!),
      first: found(codes, codesIds! >> 4),
      others: found(codes, OTHERS | (codesIds! & 0xf)),
    };
  };
  const samples = view.getUint8(inFrame + 1);
  demand(samples === ONE_SAMPLE || samples === TWO_BY_TWO_SAMPLES);
  return {
    width: view.getUint16(frame.content + 3),
    height: view.getUint16(frame.content + 1),
    sharing: samples === ONE_SAMPLE ? 1 : 2,
    components: [component(0), component(1), component(2)],
    data: encoded.subarray(scan.end),
  };
}

/** Reads tables, each after its number. */
function readScales(encoded: Uint8Array, { content, end }: Segment, scales: Map<number, Uint8Array>): void {
  let at = content;
  for (; at < end; at += 1 + COEFFICIENTS)
    scales.set(encoded[at]!, encoded.subarray(at + 1, at + 1 + COEFFICIENTS));
  // Not so where each scale has two bytes.
  demand(at === end);
}

/** Added to the number of a table that is not of first coefficients. */
const OTHERS = 0x10;

/** Reads tables, each after its number. */
function readCodes(encoded: Uint8Array, { content, end }: Segment, codes: Map<number, Codes>): void {
  let at = content;
  while (at < end) {
    const symbols = at + 1 + CODE_LENGTHS;
    const counts = encoded.subarray(at + 1, symbols);
    const next = counts.reduce((sum, count) => sum + count, symbols);
    codes.set(encoded[at]!, { counts, symbols: encoded.subarray(symbols, next) });
    at = next;
  }
  demand(at === end);
}

function found<T>(tables: ReadonlyMap<number, T>, id: number): T {
  const table = tables.get(id);
  if (!table) throw uncommon();
  return table;
}

function demand(isSo: boolean): void {
  if (!isSo) throw uncommon();
}

function uncommon(): RangeError {
  return new RangeError("JPEG is not of the common kind");
}
