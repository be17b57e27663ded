import { estimatesOf } from "../photos/attributes.ts";
import type { Box } from "../photos/geometry.ts";
import type { Measures } from "../photos/quality-words.ts";
import { type Analysis, type Comparison, type Face, isComparison } from "./responses.ts";

/** Boxes with an IoU above this belong to the same face. */
const SAME_FACE_IOU = 0.5;

/** Reads the faces of a response, one list per image. */
export function facesFrom(response: Analysis | Comparison): readonly (readonly Face[])[] {
  if (!isComparison(response)) return [response.faces];
  const { sourceBox, sourceQuality: quality, sourcePose: pose, matches } = response;
  return [
    [measuredFace(sourceBox, { quality, pose })],
    matches.map((match) => measuredFace(match.box, match)),
  ];
}

function measuredFace(box: Box, { quality, pose }: Measures): Face {
  return { box, ...(quality && { quality }), ...(pose && { pose }) };
}

/** Updates the known faces of a photo with the faces of a new response, and appends the new ones. */
export function mergeFaces(known: readonly Face[], received: readonly Face[]): readonly Face[] {
  const updated = known.map((face) => mergeFace(face, findFace(received, face.box)));
  return [...updated, ...received.filter(({ box }) => !findFace(known, box))];
}

/** Adds what a new response knows of a face. */
function mergeFace(known: Face, received: Face | undefined): Face {
  const landmarks = received?.landmarks?.length ? received.landmarks : known.landmarks;
  return { ...known, ...received, ...(landmarks && { landmarks }) };
}

/** Finds a face by its box, which need not be equal: the service refines the box that it is given. */
export function findFace(faces: readonly Face[], box: Box): Face | undefined {
  return faces.find((face) => isSameFace(face.box, box));
}

/** Tells whether two boxes belong to the same face. */
export function isSameFace(one: Box | undefined, other: Box): boolean {
  return one !== undefined && iou(one, other) > SAME_FACE_IOU;
}

/** Describes a face in a few words. */
export function describeFace(face: Face): string {
  const { x1, y1, x2, y2 } = face.box;
  const estimates = estimatesOf(face).map(({ text, unit }) => text + unit);
  return `${estimates.join(", ") || "face"}, ${Math.round(x2 - x1)} by ${Math.round(y2 - y1)} pixels`;
}

/** Intersection over union. */
function iou(one: Box, other: Box): number {
  const width = Math.min(one.x2, other.x2) - Math.max(one.x1, other.x1);
  const height = Math.min(one.y2, other.y2) - Math.max(one.y1, other.y1);
  const intersection = Math.max(0, width) * Math.max(0, height);
  return intersection / (area(one) + area(other) - intersection);
}

function area({ x1, y1, x2, y2 }: Box): number {
  return (x2 - x1) * (y2 - y1);
}
