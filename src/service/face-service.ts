import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { confidenceOf, MATCH_DISTANCE } from "../core/index.ts";
import { FaceCall, type FaceCallOptions, optionalBox, scopeFrom } from "./face-call.ts";
import { messageFromFace } from "./face-messages.ts";
import { requireOriginalQuality } from "./quality.ts";

/** What the operations need. */
export interface FaceServiceOptions extends FaceCallOptions {
  /** The verdict on faces of two different people. */
  readonly mismatch: string;
  /** Decimals of the confidence of compare_faces. */
  readonly confidenceDecimals: number;
}

const SUCCESS = { status: "ok", code: "1000", success: true } as const;

/** The headers of compare_faces: since when it is deprecated, until when it is served at least, and what replaces it. */
export const COMPARE_DEPRECATION = {
  deprecation: `@${Date.UTC(2026, 11, 1) / 1000}`,
  sunset: new Date(Date.UTC(2028, 11, 31)).toUTCString(),
  link: '</match_faces>; rel="successor-version", </docs#compareFaces>; rel="deprecation"',
};

/** Creates the four operations. */
export function createFaceService(options: FaceServiceOptions): ServiceImpl<typeof FaceService> {
  const openCall = (context: HandlerContext) => {
    // gRPC sends trailers; over REST they are sent as headers.
    context.responseTrailer.set("x-visage-model", options.analyzer.identity);
    return new FaceCall(options, scopeFrom(context));
  };
  return {
    async matchFaces(request, context) {
      const call = openCall(context);
      const score = await call.scorePair(request);
      return {
        ...SUCCESS,
        message: "Fetched confidence value.",
        data: {
          score,
          status: Number(score) < MATCH_DISTANCE ? "match" : options.mismatch,
          ...(request.detail && { detail: call.detail() }),
        },
      };
    },

    async compareFaces(request, context) {
      for (const [name, value] of Object.entries(COMPARE_DEPRECATION))
        context.responseHeader.set(name, value);
      const call = openCall(context);
      const score = await call.scorePair(request);
      return {
        ...SUCCESS,
        message: "Fetched confidence value.",
        data: {
          confidence: confidenceOf(Number(score)).toFixed(options.confidenceDecimals),
          ...(request.detail && { detail: call.detail() }),
        },
      };
    },

    async getImageAttr(request, context) {
      const call = openCall(context);
      const { imageAttr, bboxes, faceDet } = request;
      const options = { boxes: bboxes, detect: faceDet };
      const { width, height, faces, facesFound } = await call.analyze("image_attr", imageAttr, options);
      // The envelope has no field for it, and a client must be able to detect that faces are missing.
      if (facesFound > faces.length) context.responseTrailer.set("x-visage-faces-found", String(facesFound));
      return {
        ...SUCCESS,
        message: "Fetched attributes.",
        data: {
          attributes: {
            faces: Object.fromEntries(faces.map((face, i) => [`face_id_${i}`, messageFromFace(face)])),
            imageSize: [height, width],
          },
          ...(request.detail && { detail: call.detail() }),
        },
      };
    },

    async getFaceVec(request, context) {
      const call = openCall(context);
      const face = await call.embed("img", request.img, {
        boxes: optionalBox(request.bboxes),
        detect: request.faceDet,
        pose: request.quality || request.detail,
      });
      if (request.quality) requireOriginalQuality(face, "img");
      return {
        ...SUCCESS,
        message: "Fetched vector data.",
        data: {
          vector: [...face.embedding],
          ...(request.detail && { detail: call.detail(), model: options.analyzer.identity }),
        },
      };
    },
  };
}
