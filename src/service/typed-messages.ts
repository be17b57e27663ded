// Conversion of the core's results to the messages of visage.v1.
//
// Numbers are rounded to single precision here, so that they are the same in JSON as in Protobuf.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type AnalyzeImageResponseSchema,
  type BoundingBoxSchema,
  type FaceSchema,
  Feature,
  type Point as PointMessage,
  PointSchema,
  Population,
  type PoseSchema,
  QualityComponent,
  QualityIssue,
  type QualitySchema,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import {
  type Analysis,
  attributesOf,
  type Box,
  type QualityComponent as CoreComponent,
  type Population as CorePopulation,
  type Face,
  type FaceBasics,
  failingComponents,
  isUsable,
  type Point,
  type Pose,
  poseOf,
  qualityFrom,
} from "../core/index.ts";
import { messagesFromAttributes } from "./attribute-messages.ts";
import { sizeFromBox } from "./face-messages.ts";
import { wholeValue } from "./quality.ts";

/** The messages' names of populations. */
export const POPULATIONS: Readonly<Record<CorePopulation, Population>> = {
  age0To2: Population.AGE_0_TO_2,
  age3To9: Population.AGE_3_TO_9,
  age10To19: Population.AGE_10_TO_19,
  women20To59: Population.WOMEN_20_TO_59,
  men20To59: Population.MEN_20_TO_59,
  women60Up: Population.WOMEN_60_AND_OLDER,
  men60Up: Population.MEN_60_AND_OLDER,
  adults: Population.ADULTS,
  age10Up: Population.AGE_10_AND_OLDER,
};

/** The message of each component, and the issue if it makes a face unusable. */
const COMPONENTS: Readonly<Record<CoreComponent, readonly [QualityComponent, QualityIssue]>> = {
  interEyeDistance: [QualityComponent.INTER_EYE_DISTANCE, QualityIssue.TOO_SMALL],
  illumination: [QualityComponent.ILLUMINATION, QualityIssue.LOW_ILLUMINATION],
  overExposure: [QualityComponent.OVER_EXPOSURE, QualityIssue.OVEREXPOSED],
  sharpness: [QualityComponent.SHARPNESS, QualityIssue.BLURRED],
  noise: [QualityComponent.NOISE, QualityIssue.NOISY],
  yaw: [QualityComponent.YAW, QualityIssue.INCORRECT_POSE],
  pitch: [QualityComponent.PITCH, QualityIssue.INCORRECT_POSE],
  roll: [QualityComponent.ROLL, QualityIssue.INCORRECT_POSE],
  eyesVisible: [QualityComponent.EYES_VISIBLE, QualityIssue.EYES_COVERED],
  faceOcclusion: [QualityComponent.FACE_OCCLUSION, QualityIssue.FACE_COVERED],
  detectionConfidence: [QualityComponent.DETECTION_CONFIDENCE, QualityIssue.DOUBTFUL_FACE],
  crop: [QualityComponent.CROP, QualityIssue.CUT_OFF],
};

/** Converts the faces of an image, with the features that were asked for. */
export function responseFromAnalysis(
  { width, height, faces, facesFound }: Analysis,
  features: ReadonlySet<Feature>,
  model: string,
): MessageInitShape<typeof AnalyzeImageResponseSchema> {
  return {
    imageSize: { width, height },
    faces: faces.map((face) => messageFromFace(face, features, model)),
    facesFound,
  };
}

function messageFromFace(
  face: Face,
  features: ReadonlySet<Feature>,
  model: string,
): MessageInitShape<typeof FaceSchema> {
  const { score, presence, prominence, pose, landmarks, embedding } = face;
  return {
    box: messageFromBox(face.box),
    ...(score !== undefined && { detectionScore: Math.fround(score) }),
    presence: Math.fround(presence),
    ...(prominence !== undefined && { prominence: Math.fround(prominence) }),
    ...(pose && { pose: messageFromPose(pose) }),
    ...(features.has(Feature.LANDMARKS) && { landmarks: landmarks.map(messageFromPoint) }),
    ...(features.has(Feature.QUALITY) && { quality: qualityOf(face) }),
    ...(features.has(Feature.ATTRIBUTES) && messagesFromAttributes(attributesOf(face))),
    ...(embedding && { embedding: { values: [...embedding], model } }),
  };
}

/** Converts the quality and pose of a face, if they were measured. */
export function messagesFromQuality(face: FaceBasics | undefined): {
  readonly quality?: MessageInitShape<typeof QualitySchema>;
  readonly pose?: MessageInitShape<typeof PoseSchema>;
} {
  return face?.quality ? { quality: qualityOf(face), pose: messageFromPose(poseOf(face)) } : {};
}

/**
 * Rounds a distance for a response. With all its digits, 128 searches by an embedding would tell a template exactly; see
 * docs/privacy.md. Whether faces match is decided before.
 */
export function roundDistance(distance: number): number {
  return Math.fround(Math.round(distance * 100) / 100);
}

/** Converts a bounding box. */
export function messageFromBox({ x1, y1, x2, y2 }: Box): MessageInitShape<typeof BoundingBoxSchema> {
  return { x1: Math.fround(x1), y1: Math.fround(y1), x2: Math.fround(x2), y2: Math.fround(y2) };
}

/** Creates a complete message, because protobuf-es is slow to convert 68 partial ones. */
function messageFromPoint({ x, y }: Point): PointMessage {
  return { $typeName: PointSchema.typeName, x: Math.fround(x), y: Math.fround(y) };
}

function messageFromPose({
  yawDegrees,
  pitchDegrees,
  rollDegrees,
}: Pose): MessageInitShape<typeof PoseSchema> {
  return {
    yaw: Math.fround(yawDegrees),
    pitch: Math.fround(pitchDegrees),
    roll: Math.fround(rollDegrees),
  };
}

function qualityOf(face: FaceBasics): MessageInitShape<typeof QualitySchema> {
  const quality = qualityFrom(face);
  const issues = failingComponents(quality).map(({ component }) => COMPONENTS[component][1]);
  return {
    size: Math.min(...sizeFromBox(face.box)),
    brightness: Math.fround(face.light),
    issues: [...new Set(issues)],
    usable: isUsable(quality),
    value: wholeValue(quality),
    components: quality.components.map((one) => ({
      component: COMPONENTS[one.component][0],
      value: wholeValue(one),
      measure: Math.fround(one.measure),
    })),
  };
}
