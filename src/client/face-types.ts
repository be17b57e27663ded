// The results of the original API, face.v1.
import type { Box, Point } from "./geometry.ts";

/** Options of every operation. */
export interface OperationOptions {
  /** `false` skips detection: each box is taken as a face, or the whole image if there are no boxes. */
  readonly detect?: boolean | undefined;
  /** Cancels the call, which then rejects with a VisageError of the reason `CANCELLED`. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a comparison. A box selects the face of its image. */
export interface ComparisonOptions extends OperationOptions {
  readonly box1?: Box | undefined;
  readonly box2?: Box | undefined;
}

/** The comparison of two faces by distance. */
export interface Match {
  /** 0 to 0.9, to four decimals. */
  readonly distance: number;
  /** Whether both faces are the same person: the distance is below 0.5. */
  readonly matched: boolean;
}

/** The faces of an image. */
export interface ImageAttributes {
  /** Size of the upright image in pixels. */
  readonly width: number;
  readonly height: number;
  /** The most prominent face comes first. */
  readonly faces: readonly FaceAttributes[];
}

/** The attributes of a face. */
export interface FaceAttributes {
  readonly box: Box;
  /** One of `0-10`, `10-20`, `20-40`, `40-60`, `60-100`. */
  readonly age: string;
  readonly gender: string;
  /** 0.501 to 1. */
  readonly genderConfidence: number;
  /** 68 landmarks in pixels, by the keys of docs/api.md. */
  readonly landmarks: Readonly<Record<string, Point>>;
}
