/** What an image's header says, read before any pixel is decoded. */
export interface ImageHeader {
  /** Announced size, before the EXIF orientation is applied. */
  readonly width: number;
  readonly height: number;
  /** EXIF orientation, 1 to 8. */
  readonly orientation: number;
  /** Bits per channel. */
  readonly bitDepth: number;
  /** Maximum side in pixels that the decoder supports for this format. */
  readonly maxSide: number;
  /** Estimated bytes of pixels or coefficients that the decoder holds in memory at one time. */
  readonly decoderBytes: number;
  /**
   * The image reduced to the parts that affect its pixels and its orientation. Other metadata costs time and memory,
   * and has been an attack embedding of image libraries.
   */
  readonly sanitized: Uint8Array;
}

/** Estimated rows in memory when an image is decoded and downscaled row by row. */
export const ROWS_IN_MEMORY = 1000;

/** Room for one part that is not in the file: the EXIF block with the orientation. */
const SPARE_BYTES = 100;

/** Concatenates parts of a file. It keeps no list of parts, since a hostile file has millions. */
export class PartWriter {
  private readonly copy: Uint8Array;
  private length = 0;

  constructor(file: Uint8Array) {
    this.copy = new Uint8Array(file.length + SPARE_BYTES);
  }

  /** Appends a part. There is room for every part of the file once, and for 100 bytes more. */
  write(part: Uint8Array): void {
    this.copy.set(part, this.length);
    this.length += part.length;
  }

  /** Returns the concatenated parts. */
  written(): Uint8Array {
    return this.copy.subarray(0, this.length);
  }
}

/** Returns a view of the same memory. Its getters throw RangeError beyond the end. */
export function dataViewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Whether `bytes` contains `expected` at an offset. */
export function matchesAt(bytes: Uint8Array, offset: number, expected: ArrayLike<number>): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[offset + i] !== expected[i]) return false;
  return true;
}
