// The messages of visage.v1 in JSON. The service writes fields with the value zero as well.
import type { Attributes } from "../photos/attributes.ts";
import type { Box, Size } from "../photos/geometry.ts";
import type { Measures, Pose, Quality } from "../photos/quality-words.ts";
import type { PopulationName } from "../site/populations.ts";

/** A position in pixels of the upright photo. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A face in a photo, with what the request asked for. */
export interface Face extends Measures, Attributes {
  readonly box: Box;
  readonly detectionScore?: number;
  readonly presence?: number;
  /** The 68 landmarks; empty if the request did not ask for them. */
  readonly landmarks?: readonly Point[];
  readonly embedding?: Embedding;
}

/** The numbers of a face, and the model that made them. */
export interface Embedding {
  readonly values: readonly number[];
  readonly model: string;
}

/** The response of `POST /v1/images:analyze`. */
export interface Analysis {
  readonly imageSize: Size;
  readonly faces: readonly Face[];
  readonly facesFound: number;
}

/** The response of `POST /v1/faces:compare`. */
export interface Comparison {
  /** One for each face of the target, the nearest first. */
  readonly matches: readonly FaceMatch[];
  /** The face of the source. */
  readonly sourceBox: Box;
  readonly sourceQuality?: Quality;
  readonly sourcePose?: Pose;
  readonly model: string;
}

/** The comparison with one face of the target. */
export interface FaceMatch extends Measures {
  readonly box: Box;
  /** With two decimals. */
  readonly distance: number;
  /** How likely both are the same person, 0 to 1. */
  readonly confidence: number;
  /** Whether the exact distance is below the threshold. */
  readonly matched: boolean;
  readonly threshold: number;
  readonly falseMatchRate: number;
  readonly extrapolated: boolean;
  /** For whom the rate holds. */
  readonly population: PopulationName;
}

/** Whether a response is that of a comparison. */
export function isComparison(response: Analysis | Comparison): response is Comparison {
  return "matches" in response;
}
