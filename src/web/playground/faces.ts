import type { Box } from "../photos/geometry.ts";
import type { FaceDetail, FaceEntry, Point, Rectangle, ResponseData } from "./responses.ts";

/** A face in a photo. */
export interface Face {
  readonly rectangle: Rectangle;
  readonly size: readonly [width: number, height: number];
  /** Mean luma, 0 to 255. */
  readonly light: number;
  readonly yawDegrees: number;
  /** Only `get_image_attr` returns attributes. */
  readonly attributes?: FaceAttributes;
}

/** What to keep in mind about the attributes. */
export const ATTRIBUTES_CAVEAT =
  "Age and gender are estimates from appearance and can be wrong. The range 10–20 means 10 to 19 years. It is the least reliable: most faces of this age get 20–40 or 0–10.";

/** The attributes of a face. */
export interface FaceAttributes {
  readonly age: string;
  readonly gender: string;
  readonly genderConfidence: number;
  /** The 68 landmarks in the order of docs/api.md. */
  readonly landmarks: readonly Point[];
}

/** Rectangles with an IoU above this belong to the same face. */
const SAME_FACE_IOU = 0.5;

/** Reads the faces of a response, one list per image. */
export function facesFrom({ attributes, detail }: ResponseData): Face[][] {
  const { image_size: _, ...entries } = attributes ?? {};
  const attributesOfFaces = Object.values(entries).map(attributesFrom);
  return detail.images.map(({ faces }) => faces.map((face, i) => faceFrom(face, attributesOfFaces[i])));
}

/** Updates the known faces of a photo with the faces of a new response, and appends the new ones. */
export function mergeFaces(known: readonly Face[], received: readonly Face[]): readonly Face[] {
  const updated = known.map((face) => ({ ...face, ...findFace(received, face.rectangle) }));
  return [...updated, ...received.filter(({ rectangle }) => !findFace(known, rectangle))];
}

/**
 * Tells whether two rectangles belong to the same face. They need not be equal: the service refines the box it is
 * given.
 */
export function isSameFace(one: Rectangle | undefined, other: Rectangle): boolean {
  return one !== undefined && iou(one, other) > SAME_FACE_IOU;
}

/** The rectangle of the original API as a box. */
export function boxFrom([x1, y1, x2, y2]: Rectangle): Box {
  return { x1, y1, x2, y2 };
}

/** Describes a face in a few words. */
export function describeFace({ attributes, size: [width, height] }: Face): string {
  const subject = attributes ? `${attributes.gender}, ${attributes.age} years` : "face";
  return `${subject}, ${width} by ${height} pixels`;
}

function findFace(faces: readonly Face[], box: Rectangle): Face | undefined {
  return faces.find(({ rectangle }) => isSameFace(rectangle, box));
}

function faceFrom(
  { face_rectangle, face_size, light, yaw }: FaceDetail,
  attributes: FaceAttributes | undefined,
): Face {
  return {
    rectangle: face_rectangle,
    size: face_size,
    light,
    yawDegrees: yaw,
    ...(attributes && { attributes }),
  };
}

function attributesFrom({ age, gender, gender_confidence, landmarks }: FaceEntry): FaceAttributes {
  return {
    age,
    gender,
    genderConfidence: gender_confidence,
    landmarks: Object.values(landmarks.faceLandMark),
  };
}

/** Intersection over union. */
function iou(one: Rectangle, other: Rectangle): number {
  const width = Math.min(one[2], other[2]) - Math.max(one[0], other[0]);
  const height = Math.min(one[3], other[3]) - Math.max(one[1], other[1]);
  const intersection = Math.max(0, width) * Math.max(0, height);
  return intersection / (area(one) + area(other) - intersection);
}

function area([x1, y1, x2, y2]: Rectangle): number {
  return (x2 - x1) * (y2 - y1);
}
