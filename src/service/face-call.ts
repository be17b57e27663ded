import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { DetailSchema, MatchFacesRequest } from "../../gen/ts/face/v1/face_pb.ts";
import {
  type Analysis,
  type AnalyzeOptions,
  type Box,
  distanceOf,
  type EmbeddedFace,
  type EmbedOptions,
  type FaceBasics,
  type Stage,
} from "../core/index.ts";
import type { ImageFetcher } from "../fetch/image-fetcher.ts";
import type { Permission } from "../permissions.ts";
import type { QueuedAnalyzer } from "../workers/pool.ts";
import { signalWithTimeout } from "./deadline.ts";
import { detailFromImage, type ImageFaces } from "./face-messages.ts";
import { type ImageMessage, loadImage } from "./image-source.ts";
import type { PermissionCheck } from "./permission-check.ts";
import { type RequestRecord, recordFrom } from "./request-record.ts";
import { serviceErrorFrom } from "./service-error.ts";

/** What a call needs. */
export interface FaceCallOptions {
  readonly analyzer: QueuedAnalyzer;
  readonly fetcher: ImageFetcher;
  readonly permissions: PermissionCheck;
  /** Maximum duration of a request; the caller's own deadline may be shorter. */
  readonly timeoutMs: number;
}

/** The request on whose behalf a call is made. */
export interface CallScope {
  readonly signal: AbortSignal;
  /** What is left of the client's timeout; infinite if it set none. */
  readonly timeoutMs: number;
  readonly record: RequestRecord | undefined;
}

/** The scope of a unary call. */
export function scopeFrom(context: HandlerContext): CallScope {
  return {
    signal: context.signal,
    timeoutMs: context.timeoutMs() ?? Number.POSITIVE_INFINITY,
    record: recordFrom(context.values),
  };
}

/** The fields that the operations on two images share. */
export type PairRequest = Pick<
  MatchFacesRequest,
  "img1" | "img2" | "bboxes1" | "bboxes2" | "faceDet" | "detail"
>;

/** Options of the work on one image that are not the call's own. */
type ImageOptions = Omit<AnalyzeOptions & EmbedOptions, "signal" | "onStage">;

/** The work of one request on its images. It fills the request's record and collects what `detail` reports. */
export class FaceCall {
  readonly #analyzer: QueuedAnalyzer;
  readonly #fetcher: ImageFetcher;
  readonly #permissions: PermissionCheck;
  readonly #signal: AbortSignal;
  readonly #deadlineMs: number;
  readonly #record: RequestRecord | undefined;
  readonly #milliseconds: Partial<Record<Stage | "fetch", number>> = {};
  readonly #images = new Map<string, ImageFaces>();

  constructor({ analyzer, fetcher, permissions, timeoutMs }: FaceCallOptions, scope: CallScope) {
    this.#analyzer = analyzer;
    this.#fetcher = fetcher;
    this.#permissions = permissions;
    this.#record = scope.record;
    this.#signal = scope.timeoutMs > timeoutMs ? signalWithTimeout(scope.signal, timeoutMs) : scope.signal;
    this.#deadlineMs = performance.now() + Math.min(timeoutMs, scope.timeoutMs);
  }

  /** Whether the caller has a permission. */
  isPermitted(permission: Permission): boolean {
    const caller = this.#record?.caller;
    return caller !== undefined && this.#permissions.has(caller, permission);
  }

  /** Returns the distance of the two faces with 4 decimals. If both images fail, throws the error of the first. */
  async scorePair({ img1, img2, bboxes1, bboxes2, faceDet, detail }: PairRequest): Promise<string> {
    const [one, other] = await Promise.allSettled([
      this.embed("img_1", img1, { boxes: optionalBox(bboxes1), detect: faceDet, pose: detail }),
      this.embed("img_2", img2, { boxes: optionalBox(bboxes2), detect: faceDet, pose: detail }),
    ]);
    if (one.status === "rejected") throw one.reason;
    if (other.status === "rejected") throw other.reason;
    return distanceOf(one.value.embedding, other.value.embedding).toFixed(4);
  }

  /** Computes the embedding of the face in an image. */
  embed(field: string, image: ImageMessage | undefined, options: ImageOptions): Promise<EmbeddedFace> {
    return withField(field, async () => {
      const bytes = await this.#load(field, image);
      const embedding = await this.#analyzer.embed(bytes, this.#options(field, options));
      this.#addImage(field, embedding.facesFound, [embedding]);
      return embedding;
    });
  }

  /** Measures all faces in an image. */
  analyze(field: string, image: ImageMessage | undefined, options: ImageOptions): Promise<Analysis> {
    return withField(field, async () => {
      const bytes = await this.#load(field, image);
      const analysis = await this.#analyzer.analyze(bytes, this.#options(field, options));
      this.#addImage(field, analysis.facesFound, analysis.faces);
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

  #options(field: string, { boxes = [], ...options }: ImageOptions) {
    return {
      ...options,
      // Plain objects, because messages have more properties than a worker needs.
      boxes: boxes.map(({ x1, y1, x2, y2 }) => ({ x1, y1, x2, y2 })),
      signal: this.#signal,
      deadlineMs: this.#deadlineMs,
      caller: this.#record?.caller?.fingerprint,
      onStage: (stage: Stage, milliseconds: number) => this.#addTime(field, stage, milliseconds),
    };
  }

  async #load(field: string, image: ImageMessage | undefined): Promise<Uint8Array> {
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

/** The boxes of a request that selects at most one face. */
export function optionalBox(box: Box | undefined): readonly Box[] {
  return box ? [box] : [];
}

/** Adds the field of the image to an error. */
async function withField<T>(field: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw serviceErrorFrom(error, field);
  }
}
