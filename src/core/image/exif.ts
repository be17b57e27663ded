import { dataViewOf, matchesAt } from "./image-header.ts";

/** Prefix of EXIF in a JPEG. Some encoders also write it into a PNG, where it does not belong. */
export const EXIF_PREFIX = Buffer.from("Exif\0\0", "latin1");

const ORIENTATION_TAG = 0x0112;
const BYTE = 1;
const SHORT = 3;
const LONG = 4;

/** The orientation of an image that needs no rotation. */
export const UPRIGHT = 1;

/** Whether applying an orientation swaps width and height. */
export function swapsSides(orientation: number): boolean {
  return orientation >= 5;
}

/**
 * Reads the orientation, 1 to 8, from EXIF. Returns UPRIGHT if it is missing or invalid.
 *
 * We parse EXIF ourselves because libexif follows nested pointers without a limit: 60 kB of them keep it busy for
 * many seconds.
 */
export function readOrientation(exif: Uint8Array): number {
  const tiff = matchesAt(exif, 0, EXIF_PREFIX) ? exif.subarray(EXIF_PREFIX.length) : exif;
  try {
    const orientation = findOrientation(dataViewOf(tiff));
    return orientation >= 1 && orientation <= 8 ? orientation : UPRIGHT;
  } catch {
    return UPRIGHT;
  }
}

/** Finds the orientation in the first directory of a TIFF block. Throws RangeError if that exceeds the block. */
function findOrientation(tiff: DataView): number {
  const isLittleEndian = tiff.getUint16(0) === 0x4949;
  const directory = tiff.getUint32(4, isLittleEndian);
  const count = tiff.getUint16(directory, isLittleEndian);
  for (let i = 0; i < count; i++) {
    const entry = directory + 2 + 12 * i;
    if (tiff.getUint16(entry, isLittleEndian) !== ORIENTATION_TAG) continue;
    const type = tiff.getUint16(entry + 2, isLittleEndian);
    if (type === BYTE) return tiff.getUint8(entry + 8);
    if (type === SHORT) return tiff.getUint16(entry + 8, isLittleEndian);
    return type === LONG ? tiff.getUint32(entry + 8, isLittleEndian) : UPRIGHT;
  }
  return UPRIGHT;
}

/** Encodes a TIFF block with the orientation tag only. */
export function encodeOrientation(orientation: number): Buffer {
  return Buffer.from([
    ...[0x4d, 0x4d, 0, 42, 0, 0, 0, 8],
    ...[0, 1, ORIENTATION_TAG >> 8, ORIENTATION_TAG & 0xff, 0, SHORT, 0, 0, 0, 1, 0, orientation, 0, 0],
    ...[0, 0, 0, 0],
  ]);
}
