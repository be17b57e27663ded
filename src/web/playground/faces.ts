import type { AnswerData, FaceDetail, FaceEntry, Point, Rectangle } from "./answers.ts";

/** What the page knows of a face in a photo. */
export interface Face {
  readonly rectangle: Rectangle;
  readonly size: readonly [width: number, height: number];
  readonly light: number;
  readonly yawDegrees: number;
  /** Only where its attributes were read. */
  readonly look?: Look;
}

/** What the attributes tell of a face. */
export interface Look {
  readonly age: string;
  readonly gender: string;
  readonly genderConfidence: number;
  readonly points: readonly Point[];
}

/** Two rectangles that share this much of their joint area are of the same face. */
const SAME_FACE_OVERLAP = 0.5;

/** The faces that an answer tells of, by image. */
export function facesFrom({ attributes, detail }: AnswerData): Face[][] {
  const { image_size: _, ...entries } = attributes ?? {};
  const looks = Object.values(entries).map(lookFrom);
  return detail.images.map(({ faces }) => faces.map((face, i) => faceFrom(face, looks[i])));
}

/** Adds what was learnt to what was known of a photo's faces. */
export function mergeFaces(known: readonly Face[], learnt: readonly Face[]): readonly Face[] {
  const renewed = known.map((face) => ({ ...face, ...faceAt(learnt, face.rectangle) }));
  return [...renewed, ...learnt.filter(({ rectangle }) => !faceAt(known, rectangle))];
}

/** Whether two rectangles are of the same face: a box that is sent comes back a little changed. */
export function isSameFace(one: Rectangle | undefined, other: Rectangle): boolean {
  return one !== undefined && overlapOf(one, other) > SAME_FACE_OVERLAP;
}

/** A face in a few words. */
export function describeFace({ look, size: [width, height] }: Face): string {
  const seen = look ? `${look.gender}, ${look.age} years` : "face";
  return `${seen}, ${width} by ${height} pixels`;
}

function faceAt(faces: readonly Face[], box: Rectangle): Face | undefined {
  return faces.find(({ rectangle }) => isSameFace(rectangle, box));
}

function faceFrom({ face_rectangle, face_size, light, yaw }: FaceDetail, look: Look | undefined): Face {
  return { rectangle: face_rectangle, size: face_size, light, yawDegrees: yaw, ...(look && { look }) };
}

function lookFrom({ age, gender, gender_confidence, landmarks }: FaceEntry): Look {
  return { age, gender, genderConfidence: gender_confidence, points: Object.values(landmarks.faceLandMark) };
}

function overlapOf(one: Rectangle, other: Rectangle): number {
  const width = Math.min(one[2], other[2]) - Math.max(one[0], other[0]);
  const height = Math.min(one[3], other[3]) - Math.max(one[1], other[1]);
  const shared = Math.max(0, width) * Math.max(0, height);
  return shared / (areaOf(one) + areaOf(other) - shared);
}

function areaOf([x1, y1, x2, y2]: Rectangle): number {
  return (x2 - x1) * (y2 - y1);
}
