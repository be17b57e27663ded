import { hasAt, viewOf } from "./image-header.ts";

/** What EXIF begins with in a JPEG; some writers put it into a PNG too, where it has no place. */
export const EXIF_PREFIX = Buffer.from("Exif\0\0", "latin1");

const ORIENTATION = 0x0112;
const BYTE = 1;
const SHORT = 3;
const LONG = 4;

/** How an image is stored that needs no turning. */
export const UPRIGHT = 1;

/** Whether width and height of an image change places when it is turned upright. */
export function liesOnSide(orientation: number): boolean {
  return orientation >= 5;
}

/**
 * Reads from EXIF how an image is turned, 1 to 8; upright where it says nothing or nonsense.
 *
 * Read here, since libexif follows pointers for ever: 60 kB of them keep it busy for many seconds.
 */
export function orientationIn(exif: Uint8Array): number {
  try {
    const orientation = orientationEntry(
      viewOf(hasAt(exif, 0, EXIF_PREFIX) ? exif.subarray(EXIF_PREFIX.length) : exif),
    );
    return orientation >= 1 && orientation <= 8 ? orientation : UPRIGHT;
  } catch {
    return UPRIGHT;
  }
}

/** Looks through the first directory of a TIFF block. Throws RangeError where that leaves the block. */
function orientationEntry(tiff: DataView): number {
  const isLittle = tiff.getUint16(0) === 0x4949;
  const directory = tiff.getUint32(4, isLittle);
  const count = tiff.getUint16(directory, isLittle);
  for (let i = 0; i < count; i++) {
    const entry = directory + 2 + 12 * i;
    if (tiff.getUint16(entry, isLittle) !== ORIENTATION) continue;
    const type = tiff.getUint16(entry + 2, isLittle);
    if (type === BYTE) return tiff.getUint8(entry + 8);
    if (type === SHORT) return tiff.getUint16(entry + 8, isLittle);
    return type === LONG ? tiff.getUint32(entry + 8, isLittle) : UPRIGHT;
  }
  return UPRIGHT;
}

/** A TIFF block that says how an image is turned, and nothing else. */
export function exifOf(orientation: number): Buffer {
  return Buffer.from([
    ...[0x4d, 0x4d, 0, 42, 0, 0, 0, 8],
    ...[0, 1, ORIENTATION >> 8, ORIENTATION & 0xff, 0, SHORT, 0, 0, 0, 1, 0, orientation, 0, 0],
    ...[0, 0, 0, 0],
  ]);
}
