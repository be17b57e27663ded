import { type CallOptions, type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { type Face, FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { type ImageInput, imageFromInput } from "./image-input.ts";
import { callWithRetries } from "./retry.ts";

export { VisageError } from "./visage-error.ts";
export type { ImageInput };

/** Options of a client. */
export interface VisageClientOptions {
  /** The URL of the service, such as `http://localhost:8080`. `https:` uses TLS. */
  readonly address: string;
  readonly userId: string;
  /** Deadline of a call including its retries, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number;
  /** How often a call with a retryable error is retried. `INTERNAL` is retried once at most. Default: 2. */
  readonly retries?: number;
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
  readonly detect?: boolean;
  /** Cancels the call, which then rejects with a VisageError of the kind `CANCELLED`. */
  readonly signal?: AbortSignal;
}

/** The comparison of two faces. */
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

/** Calls the service over gRPC. Calls reject with VisageError, or with the error of reading an image. */
export interface VisageClient {
  /** Compares the faces of two images. A box selects the face of its image. */
  matchFaces(
    one: ImageInput,
    other: ImageInput,
    options?: OperationOptions & { readonly box1?: Box; readonly box2?: Box },
  ): Promise<Match>;
  /** Analyses all faces of an image, or those in the boxes. */
  getImageAttr(
    image: ImageInput,
    options?: OperationOptions & { readonly boxes?: readonly Box[] },
  ): Promise<ImageAttributes>;
  /** Computes the template of a face. `quality` rejects a face that is too small, too dark or turned away. */
  getFaceVec(
    image: ImageInput,
    options?: OperationOptions & { readonly box?: Box; readonly quality?: boolean },
  ): Promise<Template>;
  /** The generated client for everything else. It sends the user id but does not retry. */
  readonly raw: Client<typeof FaceService>;
  /** Closes the connection and cancels the calls in flight. */
  close(): void;
}

/** Creates a client. It connects on first use, and reconnects when the connection is lost. */
export function createVisageClient(options: VisageClientOptions): VisageClient {
  const { address, userId, timeoutMs = 30_000, retries = 2 } = options;
  const sessionManager = new Http2SessionManager(address);
  const raw = createClient(
    FaceService,
    createGrpcTransport({ baseUrl: address, sessionManager, interceptors: [withUserId(userId)] }),
  );
  const callService = <T>({ signal }: OperationOptions, call: (options: CallOptions) => Promise<T>) =>
    callWithRetries((leftMs) => call({ timeoutMs: leftMs, ...(signal && { signal }) }), {
      timeoutMs,
      retries,
      signal,
    });

  return {
    raw,
    close: () => sessionManager.abort(),

    async matchFaces(one, other, options = {}) {
      const [img1, img2] = await Promise.all([imageFromInput(one), imageFromInput(other)]);
      const { box1, box2 } = options;
      const request = {
        img1,
        img2,
        ...faceDetField(options),
        ...(box1 && { bboxes1: box1 }),
        ...(box2 && { bboxes2: box2 }),
      };
      const { data } = await callService(options, (call) => raw.matchFaces(request, call));
      return { distance: Number(data!.score), isMatch: data!.status === "match" };
    },

    async getImageAttr(image, options = {}) {
      const request = {
        imageAttr: await imageFromInput(image),
        bboxes: [...(options.boxes ?? [])],
        ...faceDetField(options),
      };
      const { data } = await callService(options, (call) => raw.getImageAttr(request, call));
      const { faces, imageSize } = data!.attributes!;
      const [height, width] = imageSize as [number, number];
      // A Protobuf map is unordered.
      const inOrder = Object.keys(faces).map((_, i) => faceAttributesFromMessage(faces[`face_id_${i}`]!));
      return { width, height, faces: inOrder };
    },

    async getFaceVec(image, options = {}) {
      const { box, quality = false } = options;
      const request = {
        img: await imageFromInput(image),
        quality,
        ...faceDetField(options),
        ...(box && { bboxes: box }),
      };
      let model = "";
      const onTrailer = (trailer: Headers) => {
        model = trailer.get("x-visage-model") ?? "";
      };
      const { data } = await callService(options, (call) => raw.getFaceVec(request, { ...call, onTrailer }));
      return { vector: Float32Array.from(data!.vector), model };
    },
  };
}

function withUserId(userId: string): Interceptor {
  return (next) => (request) => {
    request.header.set("user_id", userId);
    return next(request);
  };
}

function faceDetField({ detect }: OperationOptions): { faceDet?: boolean } {
  return detect === undefined ? {} : { faceDet: detect };
}

function faceAttributesFromMessage({
  faceRectangle,
  age,
  gender,
  genderConfidence,
  landmarks,
}: Face): FaceAttributes {
  const [x1, y1, x2, y2] = faceRectangle as [number, number, number, number];
  return { box: { x1, y1, x2, y2 }, age, gender, genderConfidence, landmarks: landmarks!.faceLandMark };
}
