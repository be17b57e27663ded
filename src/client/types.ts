import type { Client } from "@connectrpc/connect";
import type { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import type { ImageInput } from "./image-input.ts";

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
   * sends fewer at a time while the service rejects calls because of overload or a rate limit. Default: 32.
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

/** The comparison of two faces by confidence. */
export interface Comparison {
  /** 0 to 1, to four decimals. */
  readonly confidence: number;
  /** Whether both faces are the same person: the confidence is above 0.6. */
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

/** Calls the service. Calls reject with VisageError, or with the error of reading an image. */
export interface VisageClient {
  /** Compares the faces of two images. */
  matchFaces(one: ImageInput, other: ImageInput, options?: ComparisonOptions): Promise<Match>;
  /**
   * Compares the faces of two images by confidence.
   *
   * @deprecated Use `matchFaces`.
   */
  compareFaces(one: ImageInput, other: ImageInput, options?: ComparisonOptions): Promise<Comparison>;
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
  /**
   * The generated client, for everything else. It sends the API key, but does not retry, does not limit the calls in
   * flight and rejects with ConnectError.
   */
  readonly raw: Client<typeof FaceService>;
  /** Closes the connection. Calls that wait, are in flight or follow reject with the reason `CANCELLED`. */
  close(): void;
}
