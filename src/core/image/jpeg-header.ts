import { EXIF_PREFIX, encodeOrientation, readOrientation, UPRIGHT } from "./exif.ts";
import { dataViewOf, type ImageHeader, matchesAt, PartWriter, ROWS_IN_MEMORY } from "./image-header.ts";

/** The first bytes of every JPEG: SOI and the first byte of the next marker. */
const SIGNATURE = [0xff, 0xd8, 0xff];

const SOF_MARKERS = [0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf];
const SEQUENTIAL_SOF_MARKERS = [0xc0, 0xc1];
const PROGRESSIVE_SOF_MARKERS = [0xc2, 0xca];
const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;
const APP0_JFIF = 0xe0;
const APP1_EXIF = 0xe1;
const APP2_ICC = 0xe2;
const APP14_ADOBE = 0xee;
const APP15 = 0xef;
const COM = 0xfe;
const ICC_PREFIX = Buffer.from("ICC_PROFILE\0", "latin1");

/** The maximum side that libjpeg supports, slightly less than a header can announce. */
const MAX_SIDE = 65_500;
/** A real JPEG has about 300 segments at most, 255 of them for an ICC profile. libjpeg keeps many kinds in memory. */
const MAX_SEGMENTS = 1000;
/** A real JPEG has about ten scans. libjpeg passes over the whole image for each, even for one of a few bytes. */
const MAX_SCANS = 32;

/** A segment: its marker, and the offsets of the marker, of the content and of the next segment. */
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
  /** Horizontal times vertical sampling factor of each component. */
  readonly samplings: readonly number[];
  /** The largest horizontal times the largest vertical sampling factor. */
  readonly maxSampling: number;
}

/** Whether bytes begin like a JPEG. */
export function isJpeg(bytes: Uint8Array): boolean {
  return matchesAt(bytes, 0, SIGNATURE);
}

/** Parses a JPEG up to its pixels. Throws RangeError if it is not a JPEG or has too many segments or scans. */
export function readJpegHeader(bytes: Uint8Array): ImageHeader {
  const view = dataViewOf(bytes);
  const segments = readNeededSegments(view, bytes);
  const frame = readFrame(view, segments);
  const scan = segments.at(-1)!;
  const isProgressive = PROGRESSIVE_SOF_MARKERS.includes(frame.marker);
  const hasSeveralScans = isProgressive || view.getUint8(scan.content) < frame.samplings.length;
  if (hasSeveralScans) checkScans(view, scan.end);

  const { width, height, bitDepth } = frame;
  const orientation = findOrientation(bytes, segments);
  const sanitized = sanitize(bytes, segments, orientation);
  if (SEQUENTIAL_SOF_MARKERS.includes(frame.marker))
    repairScanHeader(sanitized, sanitized.length - bytes.length + scan.content);
  const decoderBytes = hasSeveralScans ? coefficientBytes(frame) : rowBytes(frame);
  return { width, height, orientation, bitDepth, maxSide: MAX_SIDE, decoderBytes, sanitized };
}

/** Returns the segments up to the first scan that affect the pixels or the orientation. */
function readNeededSegments(view: DataView, bytes: Uint8Array): Segment[] {
  const needed: Segment[] = [];
  for (const segment of readHeaderSegments(view)) {
    if (!isNeeded(segment, bytes)) continue;
    if (needed.push(segment) > MAX_SEGMENTS) throw tooManySegments();
  }
  return needed;
}

/** Yields the segments up to and including the first SOS. Skips standalone markers, as libjpeg does. */
function* readHeaderSegments(view: DataView): Generator<Segment> {
  for (let at = 2, marker = 0; marker !== SOS; ) {
    if (view.getUint8(at) !== 0xff) throw new RangeError("JPEG header has data where a marker is expected");
    // Any number of fill bytes may precede a marker.
    while (view.getUint8(at + 1) === 0xff) at++;
    marker = view.getUint8(at + 1);
    if (marker === SOI || marker === EOI) throw new RangeError("JPEG header ends before a scan");
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
  if (marker === APP1_EXIF) return matchesAt(bytes, content, EXIF_PREFIX);
  if (marker === APP2_ICC) return matchesAt(bytes, content, ICC_PREFIX);
  const isApplicationData = marker >= APP0_JFIF && marker <= APP15;
  return marker !== COM && (!isApplicationData || marker === APP0_JFIF || marker === APP14_ADOBE);
}

function readFrame(view: DataView, segments: readonly Segment[]): Frame {
  const frame = segments.find(({ marker }) => SOF_MARKERS.includes(marker));
  if (!frame) throw new RangeError("JPEG header has no frame");
  const { marker, content } = frame;
  const factors = Array.from({ length: view.getUint8(content + 5) }, (_, i) => {
    const factor = view.getUint8(content + 7 + 3 * i);
    return { horizontal: factor >> 4, vertical: factor & 0xf };
  });
  return {
    marker,
    bitDepth: view.getUint8(content),
    width: view.getUint16(content + 3),
    height: view.getUint16(content + 1),
    samplings: factors.map(({ horizontal, vertical }) => horizontal * vertical),
    maxSampling:
      Math.max(...factors.map(({ horizontal }) => horizontal)) *
      Math.max(...factors.map(({ vertical }) => vertical)),
  };
}

/** With several scans libjpeg holds the coefficients of the whole image, two bytes for each sample. */
function coefficientBytes({ width, height, samplings, maxSampling }: Frame): number {
  const samplesPerPixel = samplings.reduce((sum, sampling) => sum + sampling, 0) / maxSampling;
  return 2 * width * height * samplesPerPixel;
}

function rowBytes({ width, height, samplings }: Frame): number {
  return width * Math.min(height, ROWS_IN_MEMORY) * samplings.length;
}

/** Throws RangeError if too many scans or segments follow the first scan. */
function checkScans(view: DataView, from: number): void {
  let [scans, segments] = [1, 0];
  for (let at = from; at < view.byteLength - 3; at++) {
    if (view.getUint8(at) !== 0xff || !startsSegment(view.getUint8(at + 1))) continue;
    const marker = view.getUint8(at + 1);
    if (marker === EOI) return;
    if (marker === SOS) scans++;
    if (scans > MAX_SCANS || ++segments > MAX_SEGMENTS) throw tooManySegments();
    at += 1 + view.getUint16(at + 2);
  }
}

/** Whether a byte after 0xff is a marker with a length, and neither a stuffed zero nor a fill byte. */
function startsSegment(marker: number): boolean {
  return marker >= 0xc0 && marker !== 0xff && marker !== SOI && !isStandalone(marker);
}

/** Whether a marker has neither a length nor content: TEM, RST0 to RST7. */
function isStandalone(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);
}

function findOrientation(bytes: Uint8Array, segments: readonly Segment[]): number {
  const orientations = segments
    .filter(({ marker }) => marker === APP1_EXIF)
    .map(({ content, end }) => readOrientation(bytes.subarray(content, end)));
  return orientations.find((orientation) => orientation !== UPRIGHT) ?? UPRIGHT;
}

function sanitize(bytes: Uint8Array, segments: readonly Segment[], orientation: number): Uint8Array {
  const parts = new PartWriter(bytes);
  parts.write(bytes.subarray(0, 2));
  if (orientation !== UPRIGHT) parts.write(encodeExifSegment(orientation));
  for (const { marker, start, end } of segments) {
    if (marker !== APP1_EXIF) parts.write(bytes.subarray(start, end));
  }
  parts.write(bytes.subarray(segments.at(-1)!.end));
  return parts.written();
}

function encodeExifSegment(orientation: number): Buffer {
  const content = Buffer.concat([EXIF_PREFIX, encodeOrientation(orientation)]);
  return Buffer.concat([Buffer.from([0xff, APP1_EXIF, 0, content.length + 2]), content]);
}

/**
 * Sets the spectral selection of a sequential scan to its only valid value (0, 63, 0). Many Samsung selfies have zeros
 * there. The decoder ignores these bytes, but libjpeg warns, and we treat a warning as a sign of missing data.
 */
function repairScanHeader(sanitized: Uint8Array, content: number): void {
  sanitized.set([0, 63, 0], content + 1 + 2 * dataViewOf(sanitized).getUint8(content));
}

function tooManySegments(): RangeError {
  return new RangeError("JPEG has too many segments or scans");
}
