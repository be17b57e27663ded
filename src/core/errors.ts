import type { Box } from "./geometry.ts";

/** The kinds of expected failure. */
export type FaceErrorKind =
  | "badBox"
  | "unreadableImage"
  | "unsupportedFormat"
  | "imageTooLarge"
  | "noFace"
  | "noFaceInBox";

/** Details of a FaceError. */
export interface FaceErrorDetails {
  readonly box?: Box | undefined;
  readonly boxIndex?: number | undefined;
  readonly cause?: unknown;
}

/**
 * An expected failure, caused by the image or by a box. The message is one sentence for the user. It has no comma,
 * colon or semicolon, because grpc-js shows those as percent codes.
 */
export class FaceError extends Error {
  override readonly name = "FaceError";
  readonly kind: FaceErrorKind;
  /** The caller's box, if a box caused the failure. */
  readonly box?: Box;
  /** The position of that box among the caller's, from 0. */
  readonly boxIndex?: number;

  constructor(kind: FaceErrorKind, message: string, details: FaceErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    if (details.box) this.box = details.box;
    if (details.boxIndex !== undefined) this.boxIndex = details.boxIndex;
  }
}
