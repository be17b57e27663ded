// Conversion of the core's results to messages.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type DetailSchema,
  type FaceSchema,
  type Landmarks,
  LandmarksSchema,
  type Point as PointMessage,
  PointSchema,
} from "../../gen/ts/face/v1/face_pb.ts";
import { attributesOf, type Box, type Face, type FaceBasics, type Point } from "../core/index.ts";
import { LANDMARK_KEYS } from "./landmark-keys.ts";

/** Rounds a bounding box to whole pixels: left, top, right, bottom. */
export function rectangleFromBox({ x1, y1, x2, y2 }: Box): [number, number, number, number] {
  return [Math.round(x1), Math.round(y1), Math.round(x2), Math.round(y2)];
}

/** Returns width and height of the rectangle of a bounding box. */
export function sizeFromBox(box: Box): [number, number] {
  const [x1, y1, x2, y2] = rectangleFromBox(box);
  return [x2 - x1, y2 - y1];
}

/** Converts a face with its attributes and landmarks. */
export function messageFromFace(face: Face): MessageInitShape<typeof FaceSchema> {
  const { age, gender, genderConfidence } = attributesOf(face);
  return {
    age,
    faceRectangle: rectangleFromBox(face.box),
    gender,
    genderConfidence,
    landmarks: messageFromLandmarks(face.landmarks),
  };
}

/** Creates complete messages, because protobuf-es is slow to convert 68 partial ones. */
function messageFromLandmarks(landmarks: readonly Point[]): Landmarks {
  const faceLandMark: Record<string, PointMessage> = {};
  landmarks.forEach(({ x, y }, i) => {
    const point: PointMessage = { $typeName: PointSchema.typeName, x: Math.round(x), y: Math.round(y) };
    faceLandMark[LANDMARK_KEYS[i]!] = point;
  });
  return { $typeName: LandmarksSchema.typeName, faceLandMark };
}

/** The faces that an operation used, for `detail`. */
export interface ImageFaces {
  readonly facesFound: number;
  readonly faces: readonly FaceBasics[];
}

/** Converts the faces of one image for `detail`. */
export function detailFromImage({
  facesFound,
  faces,
}: ImageFaces): NonNullable<MessageInitShape<typeof DetailSchema>["images"]>[number] {
  return {
    facesFound,
    faces: faces.map(({ box, score, presence, prominence, light, pose }) => ({
      faceRectangle: rectangleFromBox(box),
      ...(score !== undefined && { score }),
      faceSize: sizeFromBox(box),
      light,
      yaw: pose?.yawDegrees ?? 0,
      presence,
      ...(prominence !== undefined && { prominence }),
    })),
  };
}
