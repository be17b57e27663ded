// The results of the typed API, visage.v1. They are its messages where nothing is said.
import type {
  Age,
  CandidatesReason as CandidatesReasonNumber,
  CompareFacesResponse,
  Face,
  FaceMatch as FaceMatchMessage,
  Feature as FeatureNumber,
  Gender,
  Population as PopulationNumber,
  Pose as PoseMessage,
  Quality,
  QualityComponent as QualityComponentNumber,
  QualityIssue as QualityIssueNumber,
  ComponentQuality as QualityMessage,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type { Box } from "./geometry.ts";
import type { ImageInput } from "./image-input.ts";
import type { EnumName, Plain } from "./plain.ts";
import type { VisageError } from "./visage-error.ts";

/**
 * A part of an analysis that a caller may choose. `attributes` (such as age and gender) and `embedding` each run a
 * network for every face; the others cost next to nothing.
 */
export type Feature = EnumName<typeof FeatureNumber>;

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

/** A face. Its attributes are estimates of how it appears to annotators of photographs. */
export interface AnalyzedFace extends Omit<Plain<Face>, "box" | "quality" | "age" | "gender" | "embedding"> {
  /** From forehead to chin, in pixels with a fraction. */
  readonly box: Box;
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
export type Pose = Plain<PoseMessage>;

/** Whether a face is suited for recognition. */
export interface FaceQuality extends Omit<Plain<Quality>, "issues" | "components"> {
  /** What makes the face unusable, the worst first. */
  readonly issues: readonly QualityIssue[];
  /** What the value is the product of. */
  readonly components: readonly ComponentQuality[];
}

/** What calls measure of a face if they are asked for quality. */
export interface FaceMeasures {
  readonly quality: FaceQuality | undefined;
  readonly pose: Pose | undefined;
}

/** A reason why a face is unsuited for recognition. */
export type QualityIssue = EnumName<typeof QualityIssueNumber>;

/** One component of the quality of a face. */
export interface ComponentQuality extends Omit<Plain<QualityMessage>, "component"> {
  readonly component: QualityComponent;
}

/** What is measured of a face to judge its quality. */
export type QualityComponent = EnumName<typeof QualityComponentNumber>;

/** An apparent age. */
export interface ApparentAge extends Omit<Plain<Age>, "range"> {
  /** One of `0-10`, `10-20`, `20-40`, `40-60`, `60-100`. */
  readonly range: string;
}

/** An apparent gender. */
export interface ApparentGender {
  readonly value: EnumName<typeof Gender>;
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

/** The comparison of a face with every face of the target. Its measures are undefined unless the call asked for quality. */
export interface FaceComparison
  extends Omit<Plain<CompareFacesResponse>, "matches" | "sourceBox" | "sourceQuality"> {
  /** One entry for each face of the target, the nearest first. */
  readonly matches: readonly FaceMatch[];
  /** The face of the source that was compared. Undefined if the source is a template. */
  readonly sourceBox: Box | undefined;
  readonly sourceQuality: FaceQuality | undefined;
}

/** The comparison with one face of the target. Its measures are undefined unless the call asked for quality. */
export interface FaceMatch
  extends FaceMeasures,
    Omit<Plain<FaceMatchMessage>, "box" | "population" | "candidatesReason" | keyof FaceMeasures> {
  /** The face in the target. Undefined if the target is a template. */
  readonly box: Box | undefined;
  /** For whom `falseMatchRate` holds. */
  readonly population: Population;
  /** Why, if `candidatesOnly` is true. */
  readonly candidatesReason: CandidatesReason | undefined;
}

/** Why nearest faces are candidates for a person to judge, and no matches. */
export type CandidatesReason = EnumName<typeof CandidatesReasonNumber>;

/**
 * The people for whom a rate holds. Two of them are mistaken for each other more or less often. `adults` are of 20 to 59
 * years, because the request assumes it; `age_10_and_older` is the worst of those above, because only embeddings are known.
 */
export type Population = EnumName<typeof PopulationNumber>;

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
