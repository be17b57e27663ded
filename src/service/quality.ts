import type { Embedding } from "../core/index.ts";
import { ERRORS, type ErrorKind, reasonFromKind } from "./error-table.ts";
import { sizeOf } from "./rectangles.ts";
import { ServiceError } from "./service-error.ts";

/** Thresholds of the spec (7, 8). */
const LEAST_FACE_SIDE = 60;
const LEAST_LIGHT = 70;
const MOST_YAW_DEGREES = 50;

/** Refuses a face that is too small, too dark or turned too far; the first reason is the message, all are told. */
export function requireQuality(face: Embedding, field: string): void {
  const failed: ErrorKind[] = [];
  if (sizeOf(face.box).some((side) => side < LEAST_FACE_SIDE)) failed.push("faceTooSmall");
  if (face.light < LEAST_LIGHT) failed.push("lowIllumination");
  if (Math.abs(face.pose.yawDegrees) > MOST_YAW_DEGREES) failed.push("incorrectPose");
  const [first] = failed;
  if (!first) return;
  throw new ServiceError(first, ERRORS[first].text, {
    field,
    metadata: { reasons: failed.map(reasonFromKind).join(",") },
  });
}
