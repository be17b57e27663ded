import { type FaceBasics, poseOf } from "../core/index.ts";
import { ERRORS, reasonFromKind } from "./error-table.ts";
import { sizeFromBox } from "./face-messages.ts";
import { ServiceError } from "./service-error.ts";

/** Thresholds of the spec (7, 8). */
const MIN_FACE_SIDE = 60;
const MIN_LIGHT = 70;
const MAX_YAW_DEGREES = 50;

/** The errors of the quality check. */
export type QualityIssueKind = "faceTooSmall" | "lowIllumination" | "incorrectPose";

/** Lists what makes a face unsuited for recognition: too small, too dark or turned too far. */
export function qualityIssues(face: FaceBasics): QualityIssueKind[] {
  const { box, light } = face;
  const issues: QualityIssueKind[] = [];
  if (sizeFromBox(box).some((side) => side < MIN_FACE_SIDE)) issues.push("faceTooSmall");
  if (light < MIN_LIGHT) issues.push("lowIllumination");
  if (Math.abs(poseOf(face).yawDegrees) > MAX_YAW_DEGREES) issues.push("incorrectPose");
  return issues;
}

/**
 * Throws ServiceError if a face is unsuited for recognition. Its kind is the first reason, and its metadata lists all
 * reasons.
 */
export function requireQuality(face: FaceBasics, field: string): void {
  const issues = qualityIssues(face);
  const [first] = issues;
  if (!first) return;
  throw new ServiceError(first, ERRORS[first].text, {
    field,
    metadata: { reasons: issues.map(reasonFromKind).join(",") },
  });
}
