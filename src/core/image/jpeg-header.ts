import { EXIF_PREFIX, exifOf, orientationIn, UPRIGHT } from "./exif.ts";
import { hasAt, type ImageHeader, PartWriter, ROWS_AT_A_TIME, viewOf } from "./image-header.ts";

/** What every JPEG begins with: its first marker and half of the next. */
export const JPEG_SIGNATURE = [0xff, 0xd8, 0xff];

const FRAMES = [0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf];
const SEQUENTIAL_FRAMES = [0xc0, 0xc1];
const PROGRESSIVE_FRAMES = [0xc2, 0xca];
const START = 0xd8;
const END = 0xd9;
const SCAN = 0xda;
const JFIF = 0xe0;
const EXIF = 0xe1;
const PROFILE = 0xe2;
const ADOBE = 0xee;
const COMMENT = 0xfe;
const PROFILE_PREFIX = Buffer.from("ICC_PROFILE\0", "latin1");

/** The longest side that libjpeg takes, somewhat less than a header can say. */
const MOST_SIDE = 65_500;
/** An honest JPEG has some 300 at most, of which a profile may be 255. libjpeg keeps many kinds in memory. */
const MOST_SEGMENTS = 1000;
/** An honest JPEG has about ten. Each makes libjpeg pass over the whole image, be it of a few bytes. */
const MOST_SCANS = 32;

/** One segment: its marker, and where that, its content and the next segment begin. */
interface Segment {
  readonly marker: number;
  readonly start: number;
  readonly content: number;
  readonly end: number;
}

interface Frame {
  readonly marker: number;
  readonly bitDepth: number;
  readonly width: number;
  readonly height: number;
  /** Horizontal times vertical sampling of each component. */
  readonly samplings: readonly number[];
  /** The largest of either, multiplied. */
  readonly fullSampling: number;
}

/** Reads a JPEG up to its pixels. Throws RangeError for what is no JPEG, or has more parts than any honest one. */
export function readJpegHeader(bytes: Uint8Array): ImageHeader {
  const view = viewOf(bytes);
  const segments = neededSegments(view, bytes);
  const frame = readFrame(view, segments);
  const scan = segments.at(-1)!;
  const isProgressive = PROGRESSIVE_FRAMES.includes(frame.marker);
  const isWhole = isProgressive || view.getUint8(scan.content) < frame.samplings.length;
  if (isWhole) checkScans(view, scan.end);

  const { width, height, bitDepth } = frame;
  const orientation = orientationOf(bytes, segments);
  const encoded = neededParts(bytes, segments, orientation);
  if (SEQUENTIAL_FRAMES.includes(frame.marker))
    mendScan(encoded, encoded.length - bytes.length + scan.content);
  const heldBytes = isWhole ? coefficientBytes(frame) : rowBytes(frame);
  return { width, height, orientation, bitDepth, mostSide: MOST_SIDE, heldBytes, encoded };
}

/** Gives the segments up to the first scan that bear on the pixels, or on how the image is turned. */
function neededSegments(view: DataView, bytes: Uint8Array): Segment[] {
  const needed: Segment[] = [];
  for (const segment of headerSegments(view)) {
    if (!isNeeded(segment, bytes)) continue;
    if (needed.push(segment) > MOST_SEGMENTS) throw tooMany();
  }
  return needed;
}

/** The segments up to the first scan, that one included. Markers without a length are skipped, as by libjpeg. */
function* headerSegments(view: DataView): Generator<Segment> {
  for (let at = 2, marker = 0; marker !== SCAN; ) {
    if (view.getUint8(at) !== 0xff) throw new RangeError("JPEG header is out of step");
    // Any number of 0xff may stand before a marker.
    while (view.getUint8(at + 1) === 0xff) at++;
    marker = view.getUint8(at + 1);
    if (marker === START || marker === END) throw new RangeError("JPEG header holds another image, or none");
    if (isStandalone(marker)) {
      at += 2;
      continue;
    }
    const end = at + 2 + view.getUint16(at + 2);
    yield { marker, start: at, content: at + 4, end };
    at = end;
  }
}

function isNeeded({ marker, content }: Segment, bytes: Uint8Array): boolean {
  if (marker === EXIF) return hasAt(bytes, content, EXIF_PREFIX);
  if (marker === PROFILE) return hasAt(bytes, content, PROFILE_PREFIX);
  const isOfApplication = marker >= JFIF && marker <= 0xef;
  return marker !== COMMENT && (!isOfApplication || marker === JFIF || marker === ADOBE);
}

function readFrame(view: DataView, segments: readonly Segment[]): Frame {
  const frame = segments.find(({ marker }) => FRAMES.includes(marker));
  if (!frame) throw new RangeError("JPEG header has no frame");
  const { marker, content } = frame;
  const factors = Array.from({ length: view.getUint8(content + 5) }, (_, i) => {
    const factor = view.getUint8(content + 7 + 3 * i);
    return { across: factor >> 4, down: factor & 0xf };
  });
  return {
    marker,
    bitDepth: view.getUint8(content),
    width: view.getUint16(content + 3),
    height: view.getUint16(content + 1),
    samplings: factors.map(({ across, down }) => across * down),
    fullSampling:
      Math.max(...factors.map(({ across }) => across)) * Math.max(...factors.map(({ down }) => down)),
  };
}

/** With more than one scan no pixel is known before the last, so that libjpeg holds two bytes for each sample. */
function coefficientBytes({ width, height, samplings, fullSampling }: Frame): number {
  const samplesPerPixel = samplings.reduce((sum, sampling) => sum + sampling, 0) / fullSampling;
  return 2 * width * height * samplesPerPixel;
}

function rowBytes({ width, height, samplings }: Frame): number {
  return width * Math.min(height, ROWS_AT_A_TIME) * samplings.length;
}

/** Counts what follows the first scan. */
function checkScans(view: DataView, from: number): void {
  let [scans, segments] = [1, 0];
  for (let at = from; at < view.byteLength - 3; at++) {
    if (view.getUint8(at) !== 0xff || !beginsSegment(view.getUint8(at + 1))) continue;
    const marker = view.getUint8(at + 1);
    if (marker === END) return;
    if (marker === SCAN) scans++;
    if (scans > MOST_SCANS || ++segments > MOST_SEGMENTS) throw tooMany();
    at += 1 + view.getUint16(at + 2);
  }
}

/** Whether a byte after 0xff is a marker with a length: not a zero, which makes it data, and not one more 0xff. */
function beginsSegment(marker: number): boolean {
  return marker >= 0xc0 && marker !== 0xff && marker !== START && !isStandalone(marker);
}

/** Whether a marker (TEM, RST0 to RST7) has neither a length nor content, wherever it stands. */
function isStandalone(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);
}

function orientationOf(bytes: Uint8Array, segments: readonly Segment[]): number {
  const told = segments
    .filter(({ marker }) => marker === EXIF)
    .map(({ content, end }) => orientationIn(bytes.subarray(content, end)));
  return told.find((one) => one !== UPRIGHT) ?? UPRIGHT;
}

function neededParts(bytes: Uint8Array, segments: readonly Segment[], orientation: number): Uint8Array {
  const parts = new PartWriter(bytes);
  parts.write(bytes.subarray(0, 2));
  if (orientation !== UPRIGHT) parts.write(exifSegment(orientation));
  for (const { marker, start, end } of segments) {
    if (marker !== EXIF) parts.write(bytes.subarray(start, end));
  }
  parts.write(bytes.subarray(segments.at(-1)!.end));
  return parts.written();
}

function exifSegment(orientation: number): Buffer {
  const content = Buffer.concat([EXIF_PREFIX, exifOf(orientation)]);
  return Buffer.concat([Buffer.from([0xff, EXIF, 0, content.length + 2]), content]);
}

/**
 * Many Samsung selfies have zeros where a sequential scan must say "0, 63, 0". Nothing depends on these bytes,
 * but libjpeg warns, and a warning is otherwise the sign of missing data.
 */
function mendScan(encoded: Uint8Array, content: number): void {
  encoded.set([0, 63, 0], content + 1 + 2 * viewOf(encoded).getUint8(content));
}

function tooMany(): RangeError {
  return new RangeError("JPEG has more segments than any honest one");
}
