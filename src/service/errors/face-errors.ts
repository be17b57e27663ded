import { Code } from "@connectrpc/connect";
import { ANALYSIS_SERVICES, IMAGE_OPERATIONS, row } from "./error-row.ts";

/** Errors of the faces in an image: codes 3000 to 3999. 31xx are those of a face that is unsuited for recognition. */
export const FACE_ERRORS = {
  noFace: row("3001", Code.FailedPrecondition, 422, {
    text: "No face was found in the image.",
    stage: "find",
    operations: [...ANALYSIS_SERVICES, "enrolFace"],
    cause: "The image shows no face, or only faces that are too small, dark or turned away to be found.",
    remedy: "Use an image in which the face is larger, brighter or turned to the camera.",
    playground: { text: "Use a photo in which the face is larger, brighter or turned to the camera." },
    galleries: { text: "Use a photo in which the face is larger, brighter or turned to the camera." },
  }),
  noFaceInBox: row("3002", Code.FailedPrecondition, 422, {
    text: "No face was found in the bounding box.",
    stage: "find",
    operations: IMAGE_OPERATIONS,
    cause: "The box contains no face. The message says which box of the list it is.",
    remedy: "Use the boxes of a response for the same image, or leave the box out.",
    playground: {
      title: "No face was found in the selected box.",
      text: "Select one of the marked faces, or send the photo without a box.",
    },
  }),
  faceTooSmall: row("3101", Code.FailedPrecondition, 422, {
    text: "Face too Small",
    stage: "quality",
    firstGenerationText: "Face too Small",
    operations: [...ANALYSIS_SERVICES, "enrolFace"],
    cause: "The quality check is on and the face is smaller than 60 by 60 pixels.",
    remedy: "Use a larger image of the face, or turn the check off.",
    playground: {
      text: "The face must be at least 60 by 60 pixels. Turn off the quality check to see the measured size.",
    },
  }),
  lowIllumination: row("3102", Code.FailedPrecondition, 422, {
    text: "Low Illumination",
    stage: "quality",
    firstGenerationText: "Low Illumination",
    operations: [...ANALYSIS_SERVICES, "enrolFace"],
    cause: "The quality check is on and the mean brightness of the face is below 70 of 255.",
    remedy: "Use a brighter image, or turn the check off.",
    playground: {
      text: "The face brightness must be at least 70. Turn off the quality check to see the measured value.",
    },
  }),
  incorrectPose: row("3103", Code.FailedPrecondition, 422, {
    text: "Incorrect Pose",
    stage: "quality",
    firstGenerationText: "Incorrect Pose",
    operations: [...ANALYSIS_SERVICES, "enrolFace"],
    cause: "The quality check is on and the face is turned by more than 50 degrees.",
    remedy: "Use an image in which the person looks at the camera, or turn the check off.",
    playground: {
      text: "The face must be turned by at most 50 degrees. Turn off the quality check to see the measured angle.",
    },
  }),
  lowQuality: row("3104", Code.FailedPrecondition, 422, {
    text: "The face is unsuited for recognition.",
    stage: "quality",
    operations: [...ANALYSIS_SERVICES, "enrolFace"],
    cause:
      "An enrolment checks the quality, and the face is blurred, grainy, overexposed, covered or cut off.",
    remedy:
      "The message names the worst component and what to do. Use a better photo, or set `skip_quality_check`.",
    playground: { text: "Use a sharp photo of an uncovered face that looks at the camera." },
  }),
};
