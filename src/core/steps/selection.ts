import { FaceError } from "../errors.ts";
import type { Box } from "../geometry.ts";

/** Which faces of an image to process. */
export interface Selection {
  /** Boxes in pixels of the image as sent, each around one face. Without boxes, every detected face is processed. */
  readonly boxes?: readonly Box[] | undefined;
  /**
   * `false` skips detection: each box, or the whole image if there are no boxes, is taken as one face, whatever it
   * shows. `presence` of the result says how likely it is a face.
   */
  readonly detect?: boolean | undefined;
}

/** Maximum number of faces processed per image. In larger crowds the most prominent faces are processed. */
export const MAX_FACES = 256;

/** Maximum number of boxes per request, by operation. */
const MAX_BOXES = { analyze: MAX_FACES, embed: 1 };

/** Throws FaceError `badBox` if a request has too many boxes. */
export function checkBoxCount(operation: keyof typeof MAX_BOXES, boxes: readonly unknown[] = []): void {
  const limit = MAX_BOXES[operation];
  if (boxes.length > limit)
    throw new FaceError("badBox", `The request has ${boxes.length} boxes and the limit is ${limit}.`);
}
