import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  type BoundingBox,
  type DetailSchema,
  type FaceSchema,
  type FaceService,
  type Image,
  type Landmarks,
  LandmarksSchema,
  type MatchFacesRequest,
  type Point,
  PointSchema,
} from "../../gen/ts/face/v1/face_pb.ts";
import {
  confidenceOf,
  distanceOf,
  type Embedding,
  type Face,
  type FaceBasics,
  MATCH_DISTANCE,
  type Point as Place,
  type Stage,
} from "../core/index.ts";
import type { ImageFetcher } from "../fetch/image-fetcher.ts";
import type { QueuedAnalyzer } from "../workers/pool.ts";
import { signalWithin } from "./deadline.ts";
import { LANDMARK_KEYS } from "./landmark-keys.ts";
import { requireQuality } from "./quality.ts";
import { type RequestRecord, recordIn } from "./record.ts";
import { rectangleOf, sizeOf } from "./rectangles.ts";
import { ServiceError, serviceErrorFrom } from "./service-error.ts";

/** What the operations need. */
export interface FaceServiceOptions {
  readonly analyzer: QueuedAnalyzer;
  /** Gets images that are named by a URL. */
  readonly fetcher: ImageFetcher;
  /** The longest that a request may take; a caller's own deadline may be shorter. */
  readonly timeoutMs: number;
  /** The verdict on two faces that are not the same person's. */
  readonly mismatch: string;
}

const SUCCESS = { status: "ok", code: "1000", success: true } as const;

/** When compare_faces was declared deprecated (RFC 9745). */
const COMPARE_DEPRECATED = "@1767225600";

/** The four operations in terms of the contract. */
export function createFaceService(options: FaceServiceOptions): ServiceImpl<typeof FaceService> {
  const { mismatch } = options;
  return {
    async matchFaces(request, context) {
      const call = new Call(options, context);
      const score = await call.scorePair(request);
      return {
        ...SUCCESS,
        message: "Fetched confidence value.",
        data: {
          score,
          status: Number(score) < MATCH_DISTANCE ? "match" : mismatch,
          ...(request.detail && { detail: call.detail() }),
        },
      };
    },

    async compareFaces(request, context) {
      context.responseHeader.set("deprecation", COMPARE_DEPRECATED);
      context.responseHeader.set("link", '</match_faces>; rel="successor-version"');
      const call = new Call(options, context);
      const score = await call.scorePair(request);
      return {
        ...SUCCESS,
        message: "Fetched confidence value.",
        data: {
          confidence: confidenceOf(Number(score)).toFixed(4),
          ...(request.detail && { detail: call.detail() }),
        },
      };
    },

    async getImageAttr(request, context) {
      const call = new Call(options, context);
      const { imageAttr, bboxes, faceDet } = request;
      const { width, height, faces } = await call.analyze("image_attr", imageAttr, bboxes, faceDet);
      return {
        ...SUCCESS,
        message: "Fetched attributes.",
        data: {
          attributes: {
            faces: Object.fromEntries(faces.map((face, i) => [`face_id_${i}`, faceMessage(face)])),
            imageSize: [height, width],
          },
          ...(request.detail && { detail: call.detail() }),
        },
      };
    },

    async getFaceVec(request, context) {
      const call = new Call(options, context);
      const face = await call.embed("img", request.img, request.bboxes, request.faceDet);
      if (request.quality) requireQuality(face, "img");
      return {
        ...SUCCESS,
        message: "Fetched vector data.",
        data: { vector: [...face.vector], ...(request.detail && { detail: call.detail() }) },
      };
    },
  };
}

/** The fields that both operations on two images share. */
type PairRequest = Pick<MatchFacesRequest, "img1" | "img2" | "bboxes1" | "bboxes2" | "faceDet">;

/** One request's work on its images, and the account of it that `detail` gives. */
class Call {
  private readonly analyzer: QueuedAnalyzer;
  private readonly fetcher: ImageFetcher;
  private readonly signal: AbortSignal;
  private readonly deadlineMs: number;
  private readonly record: RequestRecord | undefined;
  private readonly trailer: Headers;
  private readonly milliseconds: Partial<Record<Stage | "fetch", number>> = {};
  private readonly images = new Map<string, { facesFound: number; faces: readonly FaceBasics[] }>();

  constructor({ analyzer, fetcher, timeoutMs }: FaceServiceOptions, context: HandlerContext) {
    this.analyzer = analyzer;
    this.fetcher = fetcher;
    this.record = recordIn(context.values);
    const callersMs = context.timeoutMs() ?? Number.POSITIVE_INFINITY;
    this.signal = callersMs > timeoutMs ? signalWithin(context.signal, timeoutMs) : context.signal;
    this.deadlineMs = performance.now() + Math.min(timeoutMs, callersMs);
    // A trailer of gRPC; plain HTTP has it among its headers.
    this.trailer = context.responseTrailer;
    this.trailer.set("x-visage-model", analyzer.identity);
  }

  /** The distance of the two faces, side by side; the first image's fault is told before the second's. */
  async scorePair({ img1, img2, bboxes1, bboxes2, faceDet }: PairRequest): Promise<string> {
    const [one, other] = await Promise.allSettled([
      this.embed("img_1", img1, bboxes1, faceDet),
      this.embed("img_2", img2, bboxes2, faceDet),
    ]);
    if (one.status === "rejected") throw one.reason;
    if (other.status === "rejected") throw other.reason;
    return distanceOf(one.value.vector, other.value.vector).toFixed(4);
  }

  async embed(
    field: string,
    image: Image | undefined,
    box?: BoundingBox,
    detect?: boolean,
  ): Promise<Embedding> {
    return this.told(field, async () => {
      const embedding = await this.analyzer.embed(
        await this.bytesOf(field, image),
        this.options(field, box ? [box] : [], detect),
      );
      this.noteImage(field, embedding.facesFound, [embedding]);
      return embedding;
    });
  }

  async analyze(field: string, image: Image | undefined, boxes: readonly BoundingBox[], detect?: boolean) {
    return this.told(field, async () => {
      const analysis = await this.analyzer.analyze(
        await this.bytesOf(field, image),
        this.options(field, boxes, detect),
      );
      const { facesFound, faces } = analysis;
      this.noteImage(field, facesFound, faces);
      // The response has no place for it, and a client must be able to tell that faces are missing.
      if (facesFound > faces.length) this.trailer.set("x-visage-faces-found", String(facesFound));
      return analysis;
    });
  }

  detail(): MessageInitShape<typeof DetailSchema> {
    const images = [...this.images].toSorted(([one], [other]) => one.localeCompare(other));
    return {
      images: images.map(([, { facesFound, faces }]) => ({
        facesFound,
        faces: faces.map(({ box, score, light, pose }) => ({
          faceRectangle: rectangleOf(box),
          ...(score !== undefined && { score }),
          faceSize: sizeOf(box),
          light,
          yaw: pose.yawDegrees,
        })),
      })),
      model: this.analyzer.identity,
      milliseconds: { ...this.milliseconds },
    };
  }

  private options(image: string, boxes: readonly BoundingBox[], detect: boolean | undefined) {
    const onStage = (stage: Stage, milliseconds: number) => this.addTime(image, stage, milliseconds);
    const plain = boxes.map(({ x1, y1, x2, y2 }) => ({ x1, y1, x2, y2 }));
    const { signal, deadlineMs } = this;
    const caller = this.record?.caller?.fingerprint;
    return { boxes: plain, detect, signal, deadlineMs, caller, onStage };
  }

  private addTime(image: string, stage: Stage | "fetch", milliseconds: number): void {
    this.milliseconds[stage] = (this.milliseconds[stage] ?? 0) + milliseconds;
    this.record?.stages.push({ image, stage, milliseconds });
  }

  private noteImage(field: string, facesFound: number, faces: readonly FaceBasics[]): void {
    this.images.set(field, { facesFound, faces });
    this.record?.faces.push(facesFound);
  }

  private async bytesOf(field: string, image: Image | undefined): Promise<Uint8Array> {
    const bytes = await this.sourceOf(field, image);
    if (this.record) this.record.imageBytes += bytes.length;
    return bytes;
  }

  private async sourceOf(field: string, image: Image | undefined): Promise<Uint8Array> {
    switch (image?.source.case) {
      case "content":
        this.checkPlan(image.source.value, field);
        return image.source.value;
      case "url":
        return this.fetch(field, image.source.value);
      default:
        throw new ServiceError("badRequest", `The field ${field} is missing.`, { field });
    }
  }

  /** Holds an image against the caller's plan; the service's own limit is the core's to hold. */
  private checkPlan({ length }: Uint8Array, field: string): void {
    const allowed = this.record?.caller?.maxImageBytes;
    if (allowed === undefined || length <= allowed) return;
    const text = `The image has ${length} bytes where the plan allows ${allowed}.`;
    throw new ServiceError("imageTooLarge", text, { field });
  }

  private async fetch(field: string, url: string): Promise<Uint8Array> {
    const start = performance.now();
    try {
      const { fingerprint: caller, maxImageBytes: maxBytes } = this.record?.caller ?? {};
      return await this.fetcher.fetch(url, { signal: this.signal, maxBytes, caller });
    } finally {
      this.addTime(field, "fetch", performance.now() - start);
    }
  }

  /** Says which image a fault lies with. */
  private async told<T>(field: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (fault) {
      throw serviceErrorFrom(fault, field);
    }
  }
}

function faceMessage({
  age,
  box,
  gender,
  genderConfidence,
  landmarks,
}: Face): MessageInitShape<typeof FaceSchema> {
  return {
    age,
    faceRectangle: rectangleOf(box),
    gender,
    genderConfidence,
    landmarks: landmarksMessage(landmarks),
  };
}

/** A message with all its points, so that none has to be made of them one by one. */
function landmarksMessage(landmarks: readonly Place[]): Landmarks {
  const faceLandMark: Record<string, Point> = {};
  landmarks.forEach(({ x, y }, i) => {
    const point: Point = { $typeName: PointSchema.typeName, x: Math.round(x), y: Math.round(y) };
    faceLandMark[LANDMARK_KEYS[i]!] = point;
  });
  return { $typeName: LandmarksSchema.typeName, faceLandMark };
}
