import type { ErrorKind } from "../../src/service/error-table.ts";

/** The errors of every operation on galleries. */
export const COMMON_ERRORS: readonly ErrorKind[] = [
  "badRequest",
  "requestTooLarge",
  "headersTooLarge",
  "unsupportedEncoding",
  "noUserId",
  "unknownUser",
  "noSubscription",
  "quotaSpent",
  "tooManyRequests",
  "tooManyInFlight",
  "internal",
  "overloaded",
  "draining",
  "deadlinePassed",
  "requestTooSlow",
  "accountsUnavailable",
  "galleriesUnavailable",
];

/** The errors of a face that is sent as an image or as an embedding. */
const FACE_ERRORS: readonly ErrorKind[] = [
  "badBox",
  "unreadableImage",
  "unsupportedFormat",
  "imageTooLarge",
  "urlUnreachable",
  "urlRefused",
  "urlTooSlow",
  "urlFailed",
  "modelMismatch",
  "noFaceInBox",
];

/** The errors of an operation besides those of all, by the name of its method. */
export const OPERATION_ERRORS: Readonly<Record<string, readonly ErrorKind[]>> = {
  CreateGallery: ["galleryExists", "tooManyGalleries"],
  GetGallery: ["galleryNotFound"],
  ListGalleries: [],
  UpdateGallery: ["galleryNotFound"],
  DeleteGallery: ["galleryNotFound"],
  EnrolFace: [
    ...FACE_ERRORS,
    "noFace",
    "faceTooSmall",
    "lowIllumination",
    "incorrectPose",
    "lowQuality",
    "galleryNotFound",
    "tooManyFaces",
    "tooManyFacesOfPerson",
  ],
  GetPerson: ["galleryNotFound", "personNotFound"],
  ListPeople: ["galleryNotFound"],
  UpdatePerson: ["galleryNotFound", "personNotFound"],
  DeletePerson: ["galleryNotFound", "personNotFound"],
  DeleteFace: ["galleryNotFound", "faceNotFound"],
  IdentifyFaces: [...FACE_ERRORS, "galleryNotFound", "galleryTooLarge", "galleryLoading"],
  ExportGallery: ["galleryNotFound"],
  ImportFaces: ["modelMismatch", "galleryNotFound", "tooManyFaces", "tooManyFacesOfPerson"],
};
