import { Code } from "@connectrpc/connect";

/** How one kind of error is reported over each protocol. */
export interface ErrorRow {
  /** The envelope's `code`. It never changes. */
  readonly code: string;
  readonly grpc: Code;
  readonly http: number;
  /**
   * The default message: one sentence for the user. It has no comma, colon or semicolon, because grpc-js shows
   * those as percent codes.
   */
  readonly text: string;
  /** Whether sending the same request again can help. */
  readonly retryable: boolean;
  /** The stage of the request that failed: `stage` in the metadata of `google.rpc.ErrorInfo`. */
  readonly stage: string;
  /** The quota that is exceeded: the subject of `google.rpc.QuotaFailure`. */
  readonly quota: string | undefined;
}

/** The name of an error kind. */
export type ErrorKind = keyof typeof ERRORS;

/** Every kind of error that a request can end with, in the order of their codes. */
export const ERRORS = {
  badRequest: row("2001", Code.InvalidArgument, 400, "The request is malformed."),
  badBox: row("2002", Code.InvalidArgument, 400, "The bounding box is malformed."),
  unreadableImage: row(
    "2003",
    Code.InvalidArgument,
    400,
    "The image is damaged or incomplete and cannot be read.",
    { stage: "decode" },
  ),
  unsupportedFormat: row("2004", Code.InvalidArgument, 415, "The image is neither a JPEG nor a PNG.", {
    stage: "decode",
  }),
  imageTooLarge: row("2005", Code.InvalidArgument, 413, "The image is too large.", { stage: "decode" }),
  urlUnreachable: row("2006", Code.FailedPrecondition, 422, "The image could not be fetched from its URL.", {
    stage: "fetch",
  }),
  urlRefused: row("2007", Code.FailedPrecondition, 422, "The server of the image URL rejected the request.", {
    stage: "fetch",
  }),
  urlTooSlow: row("2008", Code.DeadlineExceeded, 504, "The image did not arrive from its URL in time.", {
    retryable: true,
    stage: "fetch",
  }),
  urlFailed: row("2009", Code.Unavailable, 503, "The server of the image URL failed.", {
    retryable: true,
    stage: "fetch",
  }),
  requestTooLarge: row("2010", Code.ResourceExhausted, 413, "The request body is too large."),
  headersTooLarge: row("2011", Code.InvalidArgument, 431, "The request headers are too large."),
  unsupportedEncoding: row(
    "2012",
    Code.Unimplemented,
    415,
    "The content encoding of the request body is not supported.",
  ),
  modelMismatch: row("2013", Code.FailedPrecondition, 422, "The embedding was made by another model."),
  noFace: row("3001", Code.FailedPrecondition, 422, "No face was found in the image.", { stage: "find" }),
  noFaceInBox: row("3002", Code.FailedPrecondition, 422, "No face was found in the bounding box.", {
    stage: "find",
  }),
  faceTooSmall: row("3101", Code.FailedPrecondition, 422, "Face too Small", { stage: "quality" }),
  lowIllumination: row("3102", Code.FailedPrecondition, 422, "Low Illumination", { stage: "quality" }),
  incorrectPose: row("3103", Code.FailedPrecondition, 422, "Incorrect Pose", { stage: "quality" }),
  lowQuality: row("3104", Code.FailedPrecondition, 422, "The face is unsuited for recognition.", {
    stage: "quality",
  }),
  noUserId: row(
    "4001",
    Code.Unauthenticated,
    401,
    "The request has no key in the header user_id or x-api-key or as a Bearer token.",
  ),
  unknownUser: row(
    "4002",
    Code.Unauthenticated,
    401,
    "The key in the header user_id or x-api-key or in the Bearer token is unknown or expired or disabled.",
  ),
  noSubscription: row("4003", Code.PermissionDenied, 402, "The user has no active subscription."),
  quotaSpent: row("4004", Code.ResourceExhausted, 429, "The monthly quota of requests is used up.", {
    quota: "requests per month",
  }),
  tooManyRequests: row("4005", Code.ResourceExhausted, 429, "Too many requests were sent in a short time.", {
    retryable: true,
    quota: "requests per second",
  }),
  tooManyInFlight: row(
    "4006",
    Code.ResourceExhausted,
    429,
    "Too many requests of this user are in progress.",
    { retryable: true, quota: "requests in flight" },
  ),
  noAdminKey: row("4007", Code.Unauthenticated, 401, "The request has no valid admin key as a Bearer token."),
  crossOrigin: row("4008", Code.PermissionDenied, 403, "The request comes from a page of another origin."),
  noSuchPath: row("4040", Code.Unimplemented, 404, "This path does not exist."),
  wrongMethod: row("4050", Code.Unimplemented, 405, "This path does not support the method."),
  internal: row("5000", Code.Internal, 500, "Internal error.", { retryable: true }),
  overloaded: row(
    "5001",
    Code.Unavailable,
    503,
    "The service is overloaded and the request can be retried shortly.",
    { retryable: true },
  ),
  draining: row(
    "5002",
    Code.Unavailable,
    503,
    "The service is shutting down and the request can be retried.",
    { retryable: true },
  ),
  deadlinePassed: row(
    "5003",
    Code.DeadlineExceeded,
    504,
    "The request took longer than its deadline allows.",
    { retryable: true },
  ),
  requestTooSlow: row("5004", Code.DeadlineExceeded, 408, "The request was sent too slowly.", {
    retryable: true,
  }),
  accountsUnavailable: row("5005", Code.Unavailable, 503, "User accounts cannot be checked at the moment.", {
    retryable: true,
  }),
  galleriesUnavailable: row("5006", Code.Unavailable, 503, "Galleries cannot be reached at the moment.", {
    retryable: true,
  }),
  galleryNotFound: row("6001", Code.NotFound, 404, "The gallery does not exist."),
  personNotFound: row("6002", Code.NotFound, 404, "The person does not exist."),
  faceNotFound: row("6003", Code.NotFound, 404, "The face does not exist."),
  galleryExists: row("6004", Code.AlreadyExists, 409, "The gallery exists already."),
  tooManyGalleries: row("6005", Code.ResourceExhausted, 422, "The plan allows no more galleries.", {
    quota: "galleries",
  }),
  tooManyFaces: row("6006", Code.ResourceExhausted, 422, "The plan allows no more faces in the gallery.", {
    quota: "faces in a gallery",
  }),
  tooManyFacesOfPerson: row("6007", Code.ResourceExhausted, 422, "The person has too many faces.", {
    quota: "faces of a person",
  }),
  galleryTooLarge: row(
    "6008",
    Code.ResourceExhausted,
    422,
    "The gallery does not fit into the memory for galleries.",
  ),
  galleryLoading: row(
    "6009",
    Code.Unavailable,
    503,
    "The gallery is being read into memory and can be searched shortly.",
    { retryable: true },
  ),
  userNotFound: row("7001", Code.NotFound, 404, "The user does not exist."),
  planNotFound: row("7002", Code.NotFound, 404, "The plan does not exist."),
  keyNotFound: row("7003", Code.NotFound, 404, "The user has no key with this fingerprint."),
  userExists: row("7004", Code.AlreadyExists, 409, "A user of this name exists already."),
  planExists: row("7005", Code.AlreadyExists, 409, "A plan of this name exists already."),
  certificateTaken: row("7006", Code.AlreadyExists, 409, "Another user has this certificate subject."),
  planInUse: row("7007", Code.FailedPrecondition, 422, "The plan still has users."),
  tooManyKeys: row(
    "7008",
    Code.FailedPrecondition,
    422,
    "The user has two keys already and one must be deleted or expire first.",
  ),
  keyInUse: row("7009", Code.FailedPrecondition, 422, "The key of the request itself cannot be deleted."),
};

function row(
  code: string,
  grpc: Code,
  http: number,
  text: string,
  { retryable = false, stage = "request", quota }: Partial<ErrorRow> = {},
): ErrorRow {
  return { code, grpc, http, text, retryable, stage, quota };
}

/** Whether only operations on galleries end with this error. */
export function isGalleryError(kind: ErrorKind): boolean {
  return kind === "galleriesUnavailable" || ERRORS[kind].code.startsWith("6");
}

/** Whether only AccountService and AdminService end with this error. */
export function isAccountError(kind: ErrorKind): boolean {
  return isAdminError(kind) || ERRORS[kind].code.startsWith("7");
}

/** Whether only AdminService ends with this error. */
export function isAdminError(kind: ErrorKind): boolean {
  return kind === "noAdminKey" || kind === "crossOrigin";
}

/** Converts a kind to `google.rpc.ErrorInfo.reason`: noFaceInBox to NO_FACE_IN_BOX. */
export function reasonFromKind(kind: ErrorKind): string {
  return kind.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** Converts a reason back to its kind, if there is one. */
export function kindFromReason(reason: string): ErrorKind | undefined {
  return (Object.keys(ERRORS) as ErrorKind[]).find((kind) => reasonFromKind(kind) === reason);
}
