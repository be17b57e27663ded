// The results of the typed API, visage.v1.
import type { Box, Point } from "./geometry.ts";
import type { ImageInput } from "./image-input.ts";
import type { VisageError } from "./visage-error.ts";

/**
 * A part of an analysis that a caller may choose. `attributes` (age and gender) and `embedding` each run a network for
 * every face; the others cost next to nothing.
 */
export type Feature = "landmarks" | "attributes" | "embedding" | "quality";

/** Options of an analysis. */
export interface AnalysisOptions {
  /** What to return of each face besides box and scores. Default: landmarks, attributes and quality. */
  readonly features?: readonly Feature[] | undefined;
  /** How many of the detected faces to return, the most prominent first; 1 to 256. Default: 256. */
  readonly maxFaces?: number | undefined;
  /** Cancels the call, which then rejects with a VisageError of the reason `CANCELLED`. */
  readonly signal?: AbortSignal | undefined;
}

/** The faces of an image, with everything that was measured. */
export interface ImageAnalysis {
  /** Size of the upright image in pixels. */
  readonly width: number;
  readonly height: number;
  /** The most prominent face comes first; if the call gave boxes, in their order. */
  readonly faces: readonly AnalyzedFace[];
  /** Number of faces found. May exceed the number of `faces`. */
  readonly facesFound: number;
}

/** A face. Age and gender are estimates of how it appears to annotators of photographs. */
export interface AnalyzedFace {
  /** From forehead to chin, in pixels with a fraction. */
  readonly box: Box;
  /** 0 to 1. Undefined if the call gave the box. */
  readonly detectionScore: number | undefined;
  /** Detection score of the upright face in a crop of its own, 0 to 1. */
  readonly presence: number;
  /** The order of the faces: the share of the image that a face covers, 0 to 1. Undefined if the call gave the box. */
  readonly prominence: number | undefined;
  /** Undefined without the features `landmarks` and `quality`. */
  readonly pose: Pose | undefined;
  /** 68 landmarks in the usual numbering. Empty without the feature `landmarks`. */
  readonly landmarks: readonly Point[];
  /** Undefined without the feature `quality`. */
  readonly quality: FaceQuality | undefined;
  /** Undefined without the feature `attributes`. */
  readonly age: ApparentAge | undefined;
  /** Undefined without the feature `attributes`. */
  readonly gender: ApparentGender | undefined;
  /** The embedding with its model. Undefined without the feature `embedding`. */
  readonly template: Template | undefined;
}

/** Where a face is turned to, in degrees. All are 0 for a face that looks at the camera. */
export interface Pose {
  /** Positive if the face is turned to the right of the image. */
  readonly yaw: number;
  /** Positive if the face looks up. */
  readonly pitch: number;
  /** Positive if the head is tilted clockwise as seen in the image. */
  readonly roll: number;
}

/** Whether a face is suited for recognition. */
export interface FaceQuality {
  /** The shorter side of the box in whole pixels. */
  readonly size: number;
  /** Mean luma of the face, 0 to 255. */
  readonly brightness: number;
  /** What makes the face unusable, the worst first. */
  readonly issues: readonly QualityIssue[];
  /** Whether the value is at least 88. */
  readonly usable: boolean;
  /** How likely the face matches a good photo of the same person, 0 to 100 percent. */
  readonly value: number;
  /** What the value is the product of. */
  readonly components: readonly ComponentQuality[];
}

/** What calls measure of a face if they are asked for quality. */
export interface FaceMeasures {
  readonly quality: FaceQuality | undefined;
  readonly pose: Pose | undefined;
}

/** A reason why a face is unsuited for recognition. */
export type QualityIssue =
  | "too_small"
  | "low_illumination"
  | "incorrect_pose"
  | "overexposed"
  | "blurred"
  | "noisy"
  | "eyes_covered"
  | "face_covered"
  | "doubtful_face"
  | "cut_off";

/** One component of the quality of a face. */
export interface ComponentQuality {
  readonly component: QualityComponent;
  /** How likely the face matches if only this component harms it, 0 to 100 percent. */
  readonly value: number;
  /** What was measured; `QualityComponent` in the proto has the unit and range. */
  readonly measure: number;
}

/** What is measured of a face to judge its quality. */
export type QualityComponent =
  | "inter_eye_distance"
  | "illumination"
  | "over_exposure"
  | "sharpness"
  | "noise"
  | "yaw"
  | "pitch"
  | "roll"
  | "eyes_visible"
  | "face_occlusion"
  | "detection_confidence"
  | "crop";

/** An apparent age. */
export interface ApparentAge {
  /** One of `0-10`, `10-20`, `20-40`, `40-60`, `60-100`. */
  readonly range: string;
  /** Start of the range in years. */
  readonly minYears: number;
  /** End of the range in years, exclusive. */
  readonly maxYears: number;
  /** Probability of the range, 0.2 to 1. */
  readonly confidence: number;
}

/** An apparent gender. */
export interface ApparentGender {
  readonly value: "female" | "male";
  /** Probability of the gender, 0.501 to 1. */
  readonly confidence: number;
}

/** The embedding of a face with its model. */
export interface Template {
  /** 128 numbers. */
  readonly embedding: Float32Array;
  /** The model that computed the embedding. Embeddings of different models are not comparable. */
  readonly model: string;
}

/** A face in an image, or its template. */
export type FaceInput = ImageInput | Template;

/** Options of `compareFaces`. A box selects the face of its image. */
export interface FaceComparisonOptions {
  readonly sourceBox?: Box | undefined;
  readonly targetBox?: Box | undefined;
  /**
   * Chooses the thresholds so that at most this share of pairs of different people match, for the population of the
   * faces. Default: the threshold 0.5.
   */
  readonly maxFalseMatchRate?: number | undefined;
  /** Skips the estimate of age and gender: thresholds and rates then hold for adults only. */
  readonly assumeAdults?: boolean | undefined;
  /** Whether to measure quality and pose of the faces in images, too. */
  readonly quality?: boolean | undefined;
  /** Cancels the call, which then rejects with a VisageError of the reason `CANCELLED`. */
  readonly signal?: AbortSignal | undefined;
}

/** The comparison of a face with every face of the target. */
export interface FaceComparison {
  /** One entry for each face of the target, the nearest first. */
  readonly matches: readonly FaceMatch[];
  /** The smallest threshold of the matches; of the source alone if there are none. */
  readonly threshold: number;
  /** The highest false match rate of the matches; of the source alone if there are none. */
  readonly falseMatchRate: number;
  /** Whether a rate of the matches, or that of the source alone, is an estimate. */
  readonly extrapolated: boolean;
  /** The face of the source that was compared. Undefined if the source is a template. */
  readonly sourceBox: Box | undefined;
  /** Undefined unless the call asked for quality. */
  readonly sourceQuality: FaceQuality | undefined;
  /** Undefined unless the call asked for quality. */
  readonly sourcePose: Pose | undefined;
  /** The model that computed the embeddings. */
  readonly model: string;
}

/** The comparison with one face of the target. Its measures are undefined unless the call asked for quality. */
export interface FaceMatch extends FaceMeasures {
  /** The face in the target. Undefined if the target is a template. */
  readonly box: Box | undefined;
  /** 0 to 0.9. */
  readonly distance: number;
  /** Probability that both are the same person, 0 to 1. */
  readonly confidence: number;
  /** Whether the distance is below the threshold. False if `candidatesOnly` is true. */
  readonly matched: boolean;
  /** The distance below which these faces match. */
  readonly threshold: number;
  /** How often two different people of the population are nearer than the threshold. */
  readonly falseMatchRate: number;
  /** Whether `falseMatchRate` is an estimate, because too few pairs were so near when it was measured. */
  readonly extrapolated: boolean;
  /** For whom `falseMatchRate` holds. */
  readonly population: Population;
  /** Whether no threshold holds the rate that was asked for. The distance is for a person to judge. */
  readonly candidatesOnly: boolean;
}

/** The people for whom a rate holds. Two of them are mistaken for each other more or less often. */
export type Population =
  | "age_0_to_2"
  | "age_3_to_9"
  | "age_10_to_19"
  | "women_20_to_59"
  | "men_20_to_59"
  | "women_60_and_older"
  | "men_60_and_older"
  /** Of 20 to 59 years, because the request assumes it. */
  | "adults"
  /** The worst of those above, because only embeddings are known. */
  | "age_10_and_older";

/** An image of a stream. */
export interface StreamImage<Key> {
  /** Comes back with the result. It is not sent to the service. */
  readonly key: Key;
  readonly image: ImageInput;
  /** Analyses the faces in these boxes instead of detecting faces. */
  readonly boxes?: readonly Box[] | undefined;
}

/** The result of an image of a stream: the analysis, or the error of this image alone. */
export type StreamResult<Key> =
  | { readonly key: Key; readonly response: ImageAnalysis; readonly error?: undefined }
  | { readonly key: Key; readonly error: VisageError; readonly response?: undefined };
