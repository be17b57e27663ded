import type { Client } from "@connectrpc/connect";
import type { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import type { AccountService } from "../../gen/ts/visage/v1/account_pb.ts";
import type { AdminService } from "../../gen/ts/visage/v1/admin_pb.ts";
import type { FaceAnalysisService } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import type {
  AnalysisOptions,
  FaceComparison,
  FaceComparisonOptions,
  FaceInput,
  ImageAnalysis,
  StreamImage,
  StreamResult,
  Template,
} from "./analysis-types.ts";
import type { ComparisonOptions, ImageAttributes, Match, OperationOptions } from "./face-types.ts";
import type { Galleries } from "./gallery-types.ts";
import type { Box } from "./geometry.ts";
import type { ImageInput } from "./image-input.ts";
import type { ServiceCalls } from "./service-calls.ts";

export type * from "./analysis-types.ts";
export type * from "./face-types.ts";
export type * from "./geometry.ts";

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
   * Default: 3.
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

/** Calls the service. Calls reject with VisageError, or with TypeError for invalid arguments. */
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
  /** The plan, usage and keys of the user. The messages are those of `@visage/client/visage/v1/account`. */
  readonly account: ServiceCalls<typeof AccountService>;
  /**
   * The users and plans of the service, for its operator: the API key of the client must be that of VISAGE_ADMIN_KEY. The
   * messages are those of `@visage/client/visage/v1/admin`.
   */
  readonly admin: ServiceCalls<typeof AdminService>;
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
