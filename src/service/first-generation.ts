// Responses of the original service's first generation: bodies without an envelope. Programs that were written for it
// send the header user_key and cannot read anything else.
import type { DescMethodUnary, JsonObject, JsonValue, Message, MessageShape } from "@bufbuild/protobuf";
import type { Face, FaceService, Point } from "../../gen/ts/face/v1/face_pb.ts";
import { confidenceOf } from "../core/index.ts";
import { ERRORS, type ErrorKind } from "./error-table.ts";

/** Decimals of a confidence. Programs cut it out of the body by position, so it is never shorter. */
export const FIRST_GENERATION_CONFIDENCE_DECIMALS = 5;

/** Decimals of a gender confidence, without trailing zeros. */
const GENDER_CONFIDENCE_DECIMALS = 4;

/** Whether a request was sent by a program of the first generation. The value of the header is not checked. */
export function isFirstGeneration(headers: { readonly [name: string]: unknown }): boolean {
  return headers.user_key !== undefined;
}

/** Returns the body of an error. */
export function firstGenerationError(kind: ErrorKind): JsonObject {
  return { error: ERRORS[kind].firstGenerationText };
}

type Methods = typeof FaceService.method;

const WRITERS: {
  readonly [Name in keyof Methods]: (response: MessageShape<Methods[Name]["output"]>) => JsonValue;
} = {
  matchFaces: ({ data }) => ({
    confidence: confidenceOf(Number(data!.score)).toFixed(FIRST_GENERATION_CONFIDENCE_DECIMALS),
  }),
  // The service writes this confidence, because it has lost the distance.
  compareFaces: ({ data }) => ({ confidence: data!.confidence }),
  getImageAttr: ({ data }) => {
    const { faces, imageSize } = data!.attributes!;
    const [height, width] = imageSize as [number, number];
    const entries = Object.entries(faces).map(([key, face]) => [key, faceToJson(face)] as const);
    return { ...Object.fromEntries(entries), image_size: [width, height] };
  },
  getFaceVec: ({ data }) => {
    const { vector } = data!;
    return { vector: { __ndarray__: vector, dtype: "float64", shape: [vector.length] } };
  },
};

/** Creates the writer of a method's responses. The method is one of the FaceService. */
export function createFirstGenerationWriter({ localName }: DescMethodUnary): (message: Message) => JsonValue {
  return WRITERS[localName as keyof Methods] as (message: Message) => JsonValue;
}

function faceToJson({ age, faceRectangle, gender, genderConfidence, landmarks }: Face): JsonObject {
  const points = Object.entries(landmarks!.faceLandMark).map(([key, point]) => [key, pointToJson(point)]);
  const faceLandMark: Record<string, JsonObject> = Object.fromEntries(points);
  return {
    age,
    face_rectangle: faceRectangle,
    gender,
    gender_confidence: String(Number(genderConfidence.toFixed(GENDER_CONFIDENCE_DECIMALS))),
    landmarks: { faceLandMark: { ...faceLandMark, nosePoint2: faceLandMark.noseTip! } },
  };
}

function pointToJson({ x, y }: Point): JsonObject {
  return { x, y };
}
