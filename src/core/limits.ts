import { FaceError } from "./errors.ts";

/** What one image may cost. */
export interface ImageLimits {
  /** Most bytes of the encoded image. */
  readonly maxBytes: number;
  /**
   * Most pixels (width times height) that its header may announce. Decoding may hold four bytes for each: an
   * interlaced or progressive image that takes more for its pixels may have fewer of them.
   */
  readonly maxPixels: number;
}

/** Where nothing else is said: 10 MiB and 40 megapixels. */
export const DEFAULT_LIMITS: ImageLimits = { maxBytes: 10 * 1024 * 1024, maxPixels: 40_000_000 };

/** Most faces of an image that are processed; the most prominent ones are. */
export const MAX_FACES = 256;

/** Most boxes of a request, by the analyzer's operation. */
const MAX_BOXES = { analyze: MAX_FACES, embed: 1 };

/** Throws FaceError `badBox` if a request has too many boxes. */
export function checkBoxCount(operation: keyof typeof MAX_BOXES, boxes: readonly unknown[] = []): void {
  const most = MAX_BOXES[operation];
  if (boxes.length > most)
    throw new FaceError("badBox", `The request has ${boxes.length} boxes and the limit is ${most}.`);
}
