import {
  type ComponentQuality,
  type FaceBasics,
  failingComponents,
  poseOf,
  type QualityComponent,
  qualityFrom,
} from "../core/index.ts";
import { ERRORS, reasonFromKind } from "./error-table.ts";
import { sizeFromBox } from "./face-messages.ts";
import { ServiceError } from "./service-error.ts";

/** Thresholds of `quality=1`. */
const MIN_FACE_SIDE = 60;
const MIN_LIGHT = 70;
const MAX_YAW_DEGREES = 50;

/** The errors of the quality checks. face.v1 has the first three. */
type QualityErrorKind = "faceTooSmall" | "lowIllumination" | "incorrectPose" | "lowQuality";

/** How an error describes a component that makes a face unusable. */
interface ComponentTexts {
  readonly name: string;
  /** What the user can do. */
  readonly remedy: string;
  readonly kind: QualityErrorKind;
}

const LOOK_AT_CAMERA = "Turn the face to the camera.";

/** The texts and the error of each component. They have no comma, colon or semicolon, like those of the error table. */
export const COMPONENT_TEXTS: Readonly<Record<QualityComponent, ComponentTexts>> = {
  interEyeDistance: text("distance between the eyes", "Move closer to the camera.", "faceTooSmall"),
  illumination: text("illumination", "Add light in front of the face.", "lowIllumination"),
  overExposure: text("exposure", "Use less light or a shorter exposure."),
  sharpness: text("sharpness", "Hold the camera still and focus on the face."),
  noise: text("freedom from noise", "Add light so that the photo is less grainy."),
  yaw: text("yaw", LOOK_AT_CAMERA, "incorrectPose"),
  pitch: text("pitch", LOOK_AT_CAMERA, "incorrectPose"),
  roll: text("roll", "Hold the head upright.", "incorrectPose"),
  eyesVisible: text("visibility of the eyes", "Uncover the eyes."),
  faceOcclusion: text("visibility of the face", "Uncover the face and turn it to the camera."),
  detectionConfidence: text("confidence that it is a face", "Use a clear photo of an uncovered face."),
  crop: text("part of the face in the photo", "Show the whole face in the photo."),
};

function text(name: string, remedy: string, kind: QualityErrorKind = "lowQuality"): ComponentTexts {
  return { name, remedy, kind };
}

/** Throws ServiceError if a face fails the check of `quality=1`: too small, too dark or turned too far. */
export function requireOriginalQuality(face: FaceBasics, field: string): void {
  const { box, light } = face;
  const kinds: QualityErrorKind[] = [];
  if (sizeFromBox(box).some((side) => side < MIN_FACE_SIDE)) kinds.push("faceTooSmall");
  if (light < MIN_LIGHT) kinds.push("lowIllumination");
  if (Math.abs(poseOf(face).yawDegrees) > MAX_YAW_DEGREES) kinds.push("incorrectPose");
  const [first] = kinds;
  if (first) throw qualityError(kinds, ERRORS[first].text, field);
}

/**
 * Throws ServiceError if a face is not usable. The message tells its worst component, and what to do. The metadata lists
 * all components that fail, with their values.
 */
export function requireUsable(face: FaceBasics, field: string): void {
  const failing = failingComponents(qualityFrom(face));
  const [worst] = failing;
  if (!worst) return;
  const { name, remedy } = COMPONENT_TEXTS[worst.component];
  const kinds = failing.map(({ component }) => COMPONENT_TEXTS[component].kind);
  throw qualityError(kinds, `The ${name} is ${wholeValue(worst)} of 100. ${remedy}`, field, {
    components: failing.map((one) => `${snakeCase(one.component)}=${wholeValue(one)}`).join(","),
  });
}

/** The value of a component or of the whole quality as it is reported. Rounded down, so that no usable face has less. */
export function wholeValue({ value }: Pick<ComponentQuality, "value">): number {
  return Math.floor(value);
}

function snakeCase(component: QualityComponent): string {
  return component.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

function qualityError(
  kinds: readonly QualityErrorKind[],
  message: string,
  field: string,
  metadata: Readonly<Record<string, string>> = {},
): ServiceError {
  const reasons = [...new Set(kinds)].map(reasonFromKind).join(",");
  return new ServiceError(kinds[0]!, message, { field, metadata: { reasons, ...metadata } });
}
