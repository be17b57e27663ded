import type { Client } from "@connectrpc/connect";
import type { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import type { FaceAnalysisService } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import type { Galleries } from "./gallery-types.ts";
import type { ImageInput } from "./image-input.ts";
import type { VisageError } from "./visage-error.ts";

/** Options of a client. */
export interface VisageClientOptions {
  /** The URL of the service, such as `http://localhost:8080`. `https:` uses TLS. */
  readonly address: string;
  /** The caller's API key (user id). Only a client certificate can replace it. */
  readonly apiKey?: string | undefined;
  /**
   * Deadline of a call in milliseconds. It includes reading the image and all retries, but not the time for which the
   * call waits for its turn (see `maxInFlight`). Default: 30,000.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How often a call is retried after a temporary failure. 0 disables retries. A call that the service rejects because
   * of overload or a rate limit is retried until its deadline, and one that caused an internal error is retried once.
   * Default: 4.
   */
  readonly retries?: number | undefined;
  /**
   * The largest number of calls in flight. Further calls wait for their turn before they read their images. The client
   * sends fewer at a time while the service rejects calls because of overload or a rate limit. A stream has as many
   * images without a result at most, besides the calls. Default: 32.
   */
  readonly maxInFlight?: number | undefined;
  /** Certificates of the authorities to trust instead of the well-known ones, in PEM. Node only. */
  readonly ca?: string | Uint8Array | undefined;
  /** The client certificate for mutual TLS, in PEM. Node only. */
  readonly clientCertificate?: string | Uint8Array | undefined;
  /** The private key of the client certificate, in PEM. Node only. */
  readonly clientKey?: string | Uint8Array | undefined;
}

/** A bounding box in pixels of the upright image. */
export interface Box {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

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
  readonly isMatch: boolean;
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
  /** 68 landmarks in pixels, by the keys of the specification. */
  readonly landmarks: Readonly<Record<string, { readonly x: number; readonly y: number }>>;
}

/** The embedding of a face. */
export interface Template {
  /** 128 numbers. */
  readonly vector: Float32Array;
  /** The model that computed the vector. Vectors of different models are not comparable. */
  readonly model: string;
}

/**
 * A part of an analysis that a caller may choose. `attributes` (age and gender) and `embedding` each run a network for
 * every face; the others cost next to nothing.
 */
export type Feature = "landmarks" | "attributes" | "embedding" | "quality";

/** Options of an analysis. */
export interface AnalysisOptions {
  /** What to return of each face besides box, scores and pose. Default: landmarks, attributes and quality. */
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
  /** Probability that the box contains a face, 0 to 1. */
  readonly presence: number;
  /** The order of the faces: the share of the image that a face covers, 0 to 1. Undefined if the call gave the box. */
  readonly prominence: number | undefined;
  readonly pose: Pose;
  /** 68 landmarks in the usual numbering. Empty without the feature `landmarks`. */
  readonly landmarks: readonly Point[];
  /** Undefined without the feature `quality`. */
  readonly quality: FaceQuality | undefined;
  /** Undefined without the feature `attributes`. */
  readonly age: ApparentAge | undefined;
  /** Undefined without the feature `attributes`. */
  readonly gender: ApparentGender | undefined;
  /** Undefined without the feature `embedding`. */
  readonly embedding: Template | undefined;
}

/** A point in pixels of the upright image. It may lie outside the image. */
export interface Point {
  readonly x: number;
  readonly y: number;
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
  /** What is wrong with the face. */
  readonly issues: readonly QualityIssue[];
  /** Whether there are no issues. */
  readonly usable: boolean;
}

/** A reason why a face is unsuited for recognition. */
export type QualityIssue = "too_small" | "low_illumination" | "incorrect_pose";

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

/** A face in an image, or its template. */
export type FaceInput = ImageInput | Template;

/** Options of `compareFaces`. A box selects the face of its image. */
export interface FaceComparisonOptions {
  readonly sourceBox?: Box | undefined;
  readonly targetBox?: Box | undefined;
  /**
   * Chooses the threshold so that at most this share of pairs of different people match, by the measured curve of the
   * model. Default: the threshold 0.5.
   */
  readonly maxFalseMatchRate?: number | undefined;
  /** Cancels the call, which then rejects with a VisageError of the reason `CANCELLED`. */
  readonly signal?: AbortSignal | undefined;
}

/** The comparison of a face with every face of the target. */
export interface FaceComparison {
  /** One entry for each face of the target, the nearest first. */
  readonly matches: readonly FaceMatch[];
  /** The distance below which faces match. */
  readonly threshold: number;
  /** The share of pairs of different people that match at this threshold. */
  readonly falseMatchRate: number;
  /** Whether `falseMatchRate` lies beyond the measured part of the curve, so that it is an estimate. */
  readonly extrapolated: boolean;
  /** The face of the source that was compared. Undefined if the source is a template. */
  readonly sourceBox: Box | undefined;
  /** The model that computed the embeddings. */
  readonly model: string;
}

/** The comparison with one face of the target. */
export interface FaceMatch {
  /** The face in the target. Undefined if the target is a template. */
  readonly box: Box | undefined;
  /** 0 to 0.9. */
  readonly distance: number;
  /** Probability that both are the same person, 0 to 1. */
  readonly confidence: number;
  /** Whether the distance is below the threshold. */
  readonly isMatch: boolean;
}

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

/** Calls the service. Calls reject with VisageError, or with the error of reading an image. */
export interface VisageClient {
  /** Measures every face of an image, or the faces in the boxes. */
  analyzeImage(
    image: ImageInput,
    options?: AnalysisOptions & { readonly boxes?: readonly Box[] | undefined },
  ): Promise<ImageAnalysis>;
  /**
   * Measures the faces of many images on one stream. Results come as they are ready, not in the order of the images. An
   * image that fails has an error in its result, and the others go on.
   *
   * The next image is read only when the service takes it, at most `maxInFlight` images have no result, and the caller
   * asks for the next result. When the stream breaks, a new one is opened and the images without a result are sent
   * again, up to `retries` times without a new result. The iteration throws VisageError if that does not help, and the
   * error of `images` after the results of the images before it.
   *
   * Node only: a browser cannot stream requests, and this method throws TypeError there. Call `analyzeImage` instead.
   */
  analyzeImages<Key>(
    images: Iterable<StreamImage<Key>> | AsyncIterable<StreamImage<Key>>,
    options?: AnalysisOptions,
  ): AsyncIterable<StreamResult<Key>>;
  /** Compares a face with every face of an image, or with a template. */
  compareFaces(
    source: FaceInput,
    target: FaceInput,
    options?: FaceComparisonOptions,
  ): Promise<FaceComparison>;
  /** Compares the faces of two images. */
  matchFaces(one: ImageInput, other: ImageInput, options?: ComparisonOptions): Promise<Match>;
  /** Analyses all faces of an image, or those in the boxes. */
  getImageAttr(
    image: ImageInput,
    options?: OperationOptions & { readonly boxes?: readonly Box[] | undefined },
  ): Promise<ImageAttributes>;
  /** Computes the template of a face. `quality` rejects a face that is too small, too dark or turned away. */
  getFaceVec(
    image: ImageInput,
    options?: OperationOptions & { readonly box?: Box | undefined; readonly quality?: boolean | undefined },
  ): Promise<Template>;
  /** Enrols people in galleries and identifies faces. */
  readonly galleries: Galleries;
  /**
   * The generated client of face.v1, for everything else. It sends the API key, but does not retry, does not limit the calls in
   * flight and rejects with ConnectError.
   */
  readonly raw: Client<typeof FaceService>;
  /** The generated clients of visage.v1, like `raw`. */
  readonly rawAnalysis: Client<typeof FaceAnalysisService>;
  readonly rawGalleries: Client<typeof GalleryService>;
  /** Closes the connection. Calls that wait, are in flight or follow reject with the reason `CANCELLED`. */
  close(): void;
}
