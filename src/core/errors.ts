import type { Box } from "./types.ts";

/** Everything that can be wrong with what the core was given. */
export type FaceErrorKind =
  | "badBox"
  | "unreadableImage"
  | "unsupportedFormat"
  | "imageTooLarge"
  | "noFace"
  | "noFaceInBox";

/**
 * An expected failure: the image or the box is at fault, not the program. The message is fit for the caller, and
 * has no comma, colon or semicolon: one of the gRPC implementations shows those as percent codes.
 */
export class FaceError extends Error {
  override readonly name = "FaceError";
  readonly kind: FaceErrorKind;
  /** The caller's box, where the fault is with one. */
  readonly box?: Box;

  constructor(kind: FaceErrorKind, message: string, details: { box?: Box; cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    if (details.box) this.box = details.box;
  }
}
