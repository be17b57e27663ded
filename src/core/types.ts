import type { Box, Pixels, Point } from "./geometry.ts";
import type { ImageLimits } from "./image/limits.ts";
import type { NetworkOptions } from "./networks.ts";
import type { Population } from "./populations.ts";
import type { Attributes } from "./steps/attributes.ts";
import type { Embedding } from "./steps/embed.ts";
import type { Pose } from "./steps/pose.ts";
import type { Quality } from "./steps/quality.ts";
import type { Selection } from "./steps/selection.ts";

/** A decoded image, upright, possibly downscaled. */
export interface Photo {
  readonly pixels: Pixels;
  /** Size of the upright image as sent. All results are in its coordinates. */
  readonly width: number;
  readonly height: number;
}

/** A processing stage whose duration is reported. `queue` is the wait for a worker, reported by a worker pool only. */
export type Stage = "queue" | "decode" | "detect" | "mesh" | "attributes" | "embed";

/** Settings of an analyzer. */
export interface AnalyzerOptions extends NetworkOptions {
  /** Folder of the networks; those of the package by default. */
  readonly modelsDir?: string | undefined;
  /**
   * Expected SHA-256 of each network's file, by network name. A network without a digest is not verified. Without
   * `modelsDir`, the networks of the package are.
   */
  readonly digests?: Readonly<Record<string, string>> | undefined;
  /** Limits of one image; 10 MiB and 40 megapixels of JPEG or PNG by default. */
  readonly limits?: Partial<ImageLimits>;
}

/** Options of one call. */
export interface CallOptions extends Selection {
  /** Cancels the work between two steps. The call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the duration of each stage. */
  readonly onStage?: ((stage: Stage, milliseconds: number) => void) | undefined;
}

/** Options of `embed`. */
export interface EmbedOptions extends CallOptions {
  /** Also measures the pose. */
  readonly pose?: boolean | undefined;
  /** Also estimates the populations to which the face may belong, with the attribute network. */
  readonly populations?: boolean | undefined;
  /** Also measures the quality and the pose. */
  readonly quality?: boolean | undefined;
}

/** Options of `analyze`. */
export interface AnalyzeOptions extends CallOptions {
  /** Also computes each face's embedding. */
  readonly embeddings?: boolean | undefined;
  /** `false` skips the mesh network; the faces then have no landmarks and no pose. */
  readonly landmarks?: boolean | undefined;
  /** Also measures each face's quality. It needs the mesh, so `landmarks` must not be false. */
  readonly quality?: boolean | undefined;
  /** `false` skips the attribute network; the faces then have no attributes. */
  readonly attributes?: boolean | undefined;
  /** Measures only this many of the detected faces, the most prominent ones. Faces in boxes are all measured. */
  readonly maxFaces?: number | undefined;
}

/** The measurements that every operation reports for a face. Coordinates are in pixels of the upright image as sent. */
export interface FaceBasics {
  /** Bounding box from forehead to chin, clipped to the image. */
  readonly box: Box;
  /** Detection score, 0 to 1; missing if the caller gave the box. */
  readonly score?: number;
  /** Detection score of the upright face in a crop of its own, 0 to 1; also if the caller gave the box. */
  readonly presence: number;
  /**
   * How much of the photo the face takes, 0 to 1, less if it is cut off or far from the center. Detected faces are
   * ordered by it, those with a score below 0.8 last. Missing if the caller gave the box.
   */
  readonly prominence?: number;
  /** Missing if the call did not ask for it. */
  readonly pose?: Pose;
  /** The populations to which the face may belong, by age and gender. Missing if the call did not ask for them. */
  readonly populations?: readonly Population[];
  /** Mean luma of the face, 0 to 255. */
  readonly light: number;
  /** Missing if the call did not ask for it. */
  readonly quality?: Quality;
}

/** One face of an analysed image. It has landmarks, pose and attributes unless the call turned them off. */
export interface Face extends FaceBasics, Partial<Attributes> {
  /** 68 landmarks in the order of docs/api.md; none if the call turned them off. */
  readonly landmarks: readonly Point[];
  readonly embedding?: Embedding;
}

/** Returns a face that has attributes: all or none, because they come from one network. Throws if it has none. */
export function attributesOf(face: Face): Face & Attributes {
  if (face.age === undefined) throw new TypeError("The face was analysed without attributes.");
  return face as Face & Attributes;
}

/** Returns the pose of a face. Throws if it was analysed without. */
export function poseOf({ pose }: FaceBasics): Pose {
  if (!pose) throw new TypeError("The face was analysed without its pose.");
  return pose;
}

/** Returns the quality of a face. Throws if it was analysed without. */
export function qualityFrom({ quality }: FaceBasics): Quality {
  if (!quality) throw new TypeError("The face was analysed without its quality.");
  return quality;
}

/** The faces of an image, the most prominent first. */
export interface Analysis {
  /** Size of the upright image as sent. */
  readonly width: number;
  readonly height: number;
  /** Number of faces in the image; `faces` has only the most prominent: 256, or `maxFaces` of them. */
  readonly facesFound: number;
  readonly faces: readonly Face[];
}

/** The embedding of one face of an image. */
export interface EmbeddedFace extends FaceBasics {
  /** Size of the upright image as sent. */
  readonly width: number;
  readonly height: number;
  /** Number of faces in the image; the 256 most prominent are considered. */
  readonly facesFound: number;
  readonly embedding: Embedding;
}

/** Analyses images with the four networks. */
export interface Analyzer {
  /** Names the networks and the preprocessing that produce the embeddings. */
  readonly identity: string;
  /** Measures every face. An image without faces gives an empty list. */
  analyze(image: Uint8Array, options?: AnalyzeOptions): Promise<Analysis>;
  /** Computes the embedding of the selected or most prominent face. Throws FaceError `noFace` if there is none. */
  embed(image: Uint8Array, options?: EmbedOptions): Promise<EmbeddedFace>;
  /** Releases the networks. The analyzer cannot be used afterwards. */
  close(): Promise<void>;
}
