import type { Embedding } from "../core/index.ts";
import { ERRORS, type ErrorKind, reasonFromKind } from "./error-table.ts";
import { sizeFromBox } from "./face-messages.ts";
import { ServiceError } from "./service-error.ts";

/** Thresholds of the spec (7, 8). */
const MIN_FACE_SIDE = 60;
const MIN_LIGHT = 70;
const MAX_YAW_DEGREES = 50;

/**
 * Throws ServiceError if a face is too small, too dark or turned too far. Its kind is the first reason, and its
 * metadata lists all reasons.
 */
export function requireQuality(face: Embedding, field: string): void {
  const failed: ErrorKind[] = [];
  if (sizeFromBox(face.box).some((side) => side < MIN_FACE_SIDE)) failed.push("faceTooSmall");
  if (face.light < MIN_LIGHT) failed.push("lowIllumination");
  if (Math.abs(face.pose.yawDegrees) > MAX_YAW_DEGREES) failed.push("incorrectPose");
  const [first] = failed;
  if (!first) return;
  throw new ServiceError(first, ERRORS[first].text, {
    field,
    metadata: { reasons: failed.map(reasonFromKind).join(",") },
  });
}
