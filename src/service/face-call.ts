import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { BoundingBox, DetailSchema, Image, MatchFacesRequest } from "../../gen/ts/face/v1/face_pb.ts";
import { type Analysis, distanceOf, type Embedding, type FaceBasics, type Stage } from "../core/index.ts";
import type { ImageFetcher } from "../fetch/image-fetcher.ts";
import type { QueuedAnalyzer } from "../workers/pool.ts";
import { signalWithTimeout } from "./deadline.ts";
import { detailFromImage, type ImageFaces } from "./face-messages.ts";
import { loadImage } from "./image-source.ts";
import { type RequestRecord, recordFrom } from "./request-record.ts";
import { serviceErrorFrom } from "./service-error.ts";

/** What a call needs. */
export interface FaceCallOptions {
  readonly analyzer: QueuedAnalyzer;
  readonly fetcher: ImageFetcher;
  /** Maximum duration of a request; the caller's own deadline may be shorter. */
  readonly timeoutMs: number;
}

/** The fields that the operations on two images share. */
export type PairRequest = Pick<MatchFacesRequest, "img1" | "img2" | "bboxes1" | "bboxes2" | "faceDet">;

/** The work of one request on its images. It fills the request's record and collects what `detail` reports. */
export class FaceCall {
  readonly #analyzer: QueuedAnalyzer;
  readonly #fetcher: ImageFetcher;
  readonly #signal: AbortSignal;
  readonly #deadlineMs: number;
  readonly #record: RequestRecord | undefined;
  readonly #trailer: Headers;
  readonly #milliseconds: Partial<Record<Stage | "fetch", number>> = {};
  readonly #images = new Map<string, ImageFaces>();

  constructor({ analyzer, fetcher, timeoutMs }: FaceCallOptions, context: HandlerContext) {
    this.#analyzer = analyzer;
    this.#fetcher = fetcher;
    this.#record = recordFrom(context.values);
    const callerTimeoutMs = context.timeoutMs() ?? Number.POSITIVE_INFINITY;
    this.#signal =
      callerTimeoutMs > timeoutMs ? signalWithTimeout(context.signal, timeoutMs) : context.signal;
    this.#deadlineMs = performance.now() + Math.min(timeoutMs, callerTimeoutMs);
    // gRPC sends trailers; over REST they are sent as headers.
    this.#trailer = context.responseTrailer;
    this.#trailer.set("x-visage-model", analyzer.identity);
  }

  /** Returns the distance of the two faces with 4 decimals. If both images fail, throws the error of the first. */
  async scorePair({ img1, img2, bboxes1, bboxes2, faceDet }: PairRequest): Promise<string> {
    const [one, other] = await Promise.allSettled([
      this.embed("img_1", img1, bboxes1, faceDet),
      this.embed("img_2", img2, bboxes2, faceDet),
    ]);
    if (one.status === "rejected") throw one.reason;
    if (other.status === "rejected") throw other.reason;
    return distanceOf(one.value.vector, other.value.vector).toFixed(4);
  }

  /** Computes the vector of the face in an image. */
  embed(field: string, image: Image | undefined, box?: BoundingBox, detect?: boolean): Promise<Embedding> {
    return withField(field, async () => {
      const bytes = await this.#load(field, image);
      const embedding = await this.#analyzer.embed(bytes, this.#options(field, box ? [box] : [], detect));
      this.#addImage(field, embedding.facesFound, [embedding]);
      return embedding;
    });
  }

  /** Measures all faces in an image. */
  analyze(
    field: string,
    image: Image | undefined,
    boxes: readonly BoundingBox[],
    detect?: boolean,
  ): Promise<Analysis> {
    return withField(field, async () => {
      const bytes = await this.#load(field, image);
      const analysis = await this.#analyzer.analyze(bytes, this.#options(field, boxes, detect));
      const { facesFound, faces } = analysis;
      this.#addImage(field, facesFound, faces);
      // The envelope has no field for it, and a client must be able to detect that faces are missing.
      if (facesFound > faces.length) this.#trailer.set("x-visage-faces-found", String(facesFound));
      return analysis;
    });
  }

  /** The `detail` of the response. */
  detail(): MessageInitShape<typeof DetailSchema> {
    const images = [...this.#images].toSorted(([one], [other]) => one.localeCompare(other));
    return {
      images: images.map(([, image]) => detailFromImage(image)),
      model: this.#analyzer.identity,
      milliseconds: { ...this.#milliseconds },
    };
  }

  #options(field: string, boxes: readonly BoundingBox[], detect: boolean | undefined) {
    return {
      // Plain objects, because messages have more properties than a worker needs.
      boxes: boxes.map(({ x1, y1, x2, y2 }) => ({ x1, y1, x2, y2 })),
      detect,
      signal: this.#signal,
      deadlineMs: this.#deadlineMs,
      caller: this.#record?.caller?.fingerprint,
      onStage: (stage: Stage, milliseconds: number) => this.#addTime(field, stage, milliseconds),
    };
  }

  async #load(field: string, image: Image | undefined): Promise<Uint8Array> {
    const bytes = await loadImage(field, image, {
      fetcher: this.#fetcher,
      caller: this.#record?.caller,
      signal: this.#signal,
      onFetched: (milliseconds) => this.#addTime(field, "fetch", milliseconds),
    });
    if (this.#record) this.#record.imageBytes += bytes.length;
    return bytes;
  }

  #addTime(image: string, stage: Stage | "fetch", milliseconds: number): void {
    this.#milliseconds[stage] = (this.#milliseconds[stage] ?? 0) + milliseconds;
    this.#record?.stages.push({ image, stage, milliseconds });
  }

  #addImage(field: string, facesFound: number, faces: readonly FaceBasics[]): void {
    this.#images.set(field, { facesFound, faces });
    this.#record?.faces.push(facesFound);
  }
}

/** Adds the field of the image to an error. */
async function withField<T>(field: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw serviceErrorFrom(error, field);
  }
}
