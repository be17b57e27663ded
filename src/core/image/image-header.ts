/** What is known of an image before any of its pixels is decoded. */
export interface ImageHeader {
  /** Size as announced, before any turning. */
  readonly width: number;
  readonly height: number;
  /** How it is turned, 1 to 8 as in EXIF. */
  readonly orientation: number;
  /** Bits of each colour. */
  readonly bitDepth: number;
  /** The longest side that can be decoded. */
  readonly mostSide: number;
  /** About how many bytes of pixels or coefficients have to be in memory at one time. */
  readonly heldBytes: number;
  /**
   * The same image with those of its parts alone that make its pixels, and how it is turned. What else
   * a file may carry has been the way into image libraries before, and costs them time and memory.
   */
  readonly encoded: Uint8Array;
}

/** About how many rows of an image stay in memory where it is decoded and shrunk row by row. */
export const ROWS_AT_A_TIME = 1000;

/** Room for a part that is ours. */
const SPARE_BYTES = 100;

/** Copies parts of a file one after another. It keeps no list of them: a hostile file has millions. */
export class PartWriter {
  private readonly copy: Uint8Array;
  private length = 0;

  constructor(file: Uint8Array) {
    this.copy = new Uint8Array(file.length + SPARE_BYTES);
  }

  /** Adds a part. There is room for each part of the file once, and for a small one beside them. */
  write(part: Uint8Array): void {
    this.copy.set(part, this.length);
    this.length += part.length;
  }

  /** All that was written. */
  written(): Uint8Array {
    return this.copy.subarray(0, this.length);
  }
}

/** A view of the same memory, whose readers throw RangeError beyond the end. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Whether bytes have these at a place. */
export function hasAt(bytes: Uint8Array, at: number, expected: ArrayLike<number>): boolean {
  for (let i = 0; i < expected.length; i++) {
    if (bytes[at + i] !== expected[i]) return false;
  }
  return true;
}
