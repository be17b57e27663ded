import { type CallOptions, type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { type Face, FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { type ImageInput, imageFrom } from "./image-input.ts";
import { retrying } from "./retry.ts";

export { VisageError } from "./visage-error.ts";
export type { ImageInput };

/** Where the service is, and who asks. */
export interface VisageClientOptions {
  /** Such as `http://localhost:8080`; with `https:` the connection is TLS. */
  readonly address: string;
  readonly userId: string;
  /** The longest that a call may take with all its attempts; 30 seconds if it is not given. */
  readonly timeoutMs?: number;
  /**
   * How often a call that failed in a way that may pass is tried again; twice if it is not given. After
   * `INTERNAL` it is tried once more at most.
   */
  readonly retries?: number;
}

/** A rectangle in whole pixels of the upright image. */
export interface Box {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

/** What every operation takes. */
export interface OperationOptions {
  /** `false` never detects: each box, or without boxes the whole image, is taken as one face. */
  readonly detect?: boolean;
  /** Ends the call with a VisageError of the kind `CANCELLED`. */
  readonly signal?: AbortSignal;
}

/** How near two faces are. */
export interface Match {
  /** 0 to 0.9, to four decimals. */
  readonly distance: number;
  /** Whether both are the same person: the distance is below 0.5. */
  readonly isMatch: boolean;
}

/** What an image shows. */
export interface ImageAttributes {
  /** Pixels of the upright image. */
  readonly width: number;
  readonly height: number;
  /** The most prominent first. */
  readonly faces: readonly FaceAttributes[];
}

/** How a face appears. */
export interface FaceAttributes {
  readonly box: Box;
  /** One of `0-10`, `10-20`, `20-40`, `40-60`, `60-100`. */
  readonly age: string;
  readonly gender: string;
  /** 0.501 to 1. */
  readonly genderConfidence: number;
  /** 68 points by the keys of the specification. */
  readonly landmarks: Readonly<Record<string, { readonly x: number; readonly y: number }>>;
}

/** A face to recognise again. */
export interface Template {
  /** 128 numbers. */
  readonly vector: Float32Array;
  /** The networks behind them; vectors of different ones cannot be compared. */
  readonly model: string;
}

/** Calls the service over gRPC. Every method throws VisageError, and fails as reading its images does. */
export interface VisageClient {
  /** Tells whether the faces in two images are the same person's; a box selects the face of its image. */
  matchFaces(
    one: ImageInput,
    other: ImageInput,
    options?: OperationOptions & { readonly box1?: Box; readonly box2?: Box },
  ): Promise<Match>;
  /** Tells every face of an image, or those in the boxes. */
  getImageAttr(
    image: ImageInput,
    options?: OperationOptions & { readonly boxes?: readonly Box[] },
  ): Promise<ImageAttributes>;
  /** Turns a face into a template; `quality` refuses one that is too small, too dark or turned away. */
  getFaceVec(
    image: ImageInput,
    options?: OperationOptions & { readonly box?: Box; readonly quality?: boolean },
  ): Promise<Template>;
  /** The generated client, with the user id and nothing else added, for all that the contract has. */
  readonly raw: Client<typeof FaceService>;
  /** Ends the connection and the calls under way. */
  close(): void;
}

/** Makes a client. It connects when it is first used, and again when the connection is lost. */
export function createVisageClient(options: VisageClientOptions): VisageClient {
  const { address, userId, timeoutMs = 30_000, retries = 2 } = options;
  const sessionManager = new Http2SessionManager(address);
  const raw = createClient(
    FaceService,
    createGrpcTransport({ baseUrl: address, sessionManager, interceptors: [withUserId(userId)] }),
  );
  const ask = <T>({ signal }: OperationOptions, call: (options: CallOptions) => Promise<T>) =>
    retrying((leftMs) => call({ timeoutMs: leftMs, ...(signal && { signal }) }), {
      timeoutMs,
      retries,
      signal,
    });

  return {
    raw,
    close: () => sessionManager.abort(),

    async matchFaces(one, other, options = {}) {
      const [img1, img2] = await Promise.all([imageFrom(one), imageFrom(other)]);
      const { box1, box2 } = options;
      const request = {
        img1,
        img2,
        ...detection(options),
        ...(box1 && { bboxes1: box1 }),
        ...(box2 && { bboxes2: box2 }),
      };
      const { data } = await ask(options, (call) => raw.matchFaces(request, call));
      return { distance: Number(data!.score), isMatch: data!.status === "match" };
    },

    async getImageAttr(image, options = {}) {
      const request = {
        imageAttr: await imageFrom(image),
        bboxes: [...(options.boxes ?? [])],
        ...detection(options),
      };
      const { data } = await ask(options, (call) => raw.getImageAttr(request, call));
      const { faces, imageSize } = data!.attributes!;
      const [height, width] = imageSize as [number, number];
      // A map has no order of its own.
      const inOrder = Object.keys(faces).map((_, i) => faceFrom(faces[`face_id_${i}`]!));
      return { width, height, faces: inOrder };
    },

    async getFaceVec(image, options = {}) {
      const { box, quality = false } = options;
      const request = {
        img: await imageFrom(image),
        quality,
        ...detection(options),
        ...(box && { bboxes: box }),
      };
      let model = "";
      const onTrailer = (trailer: Headers) => {
        model = trailer.get("x-visage-model") ?? "";
      };
      const { data } = await ask(options, (call) => raw.getFaceVec(request, { ...call, onTrailer }));
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

function detection({ detect }: OperationOptions): { faceDet?: boolean } {
  return detect === undefined ? {} : { faceDet: detect };
}

function faceFrom({ faceRectangle, age, gender, genderConfidence, landmarks }: Face): FaceAttributes {
  const [x1, y1, x2, y2] = faceRectangle as [number, number, number, number];
  return { box: { x1, y1, x2, y2 }, age, gender, genderConfidence, landmarks: landmarks!.faceLandMark };
}
