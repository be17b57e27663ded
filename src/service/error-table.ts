import { Code } from "@connectrpc/connect";

/** How one kind of error is reported over each protocol. */
export interface ErrorRow {
  /** The envelope's `code`. It never changes. */
  readonly code: string;
  readonly grpc: Code;
  readonly http: number;
  /** Whether sending the same request again can help. */
  readonly retry: boolean;
  /**
   * The default message: one sentence for the user. It has no comma, colon or semicolon, because grpc-js shows
   * those as percent codes.
   */
  readonly text: string;
}

/** Every kind of error that a request can end with, in the order of their codes. */
export const ERRORS = {
  badRequest: {
    code: "2001",
    grpc: Code.InvalidArgument,
    http: 400,
    retry: false,
    text: "The request is malformed.",
  },
  badBox: {
    code: "2002",
    grpc: Code.InvalidArgument,
    http: 400,
    retry: false,
    text: "The bounding box is malformed.",
  },
  unreadableImage: {
    code: "2003",
    grpc: Code.InvalidArgument,
    http: 400,
    retry: false,
    text: "The image is damaged or incomplete and cannot be read.",
  },
  unsupportedFormat: {
    code: "2004",
    grpc: Code.InvalidArgument,
    http: 415,
    retry: false,
    text: "The image is neither a JPEG nor a PNG.",
  },
  imageTooLarge: {
    code: "2005",
    grpc: Code.InvalidArgument,
    http: 413,
    retry: false,
    text: "The image is too large.",
  },
  urlUnreachable: {
    code: "2006",
    grpc: Code.FailedPrecondition,
    http: 422,
    retry: false,
    text: "The image could not be fetched from its URL.",
  },
  urlRefused: {
    code: "2007",
    grpc: Code.FailedPrecondition,
    http: 422,
    retry: false,
    text: "The server of the image URL rejected the request.",
  },
  urlTooSlow: {
    code: "2008",
    grpc: Code.DeadlineExceeded,
    http: 504,
    retry: true,
    text: "The image did not arrive from its URL in time.",
  },
  urlFailed: {
    code: "2009",
    grpc: Code.Unavailable,
    http: 503,
    retry: true,
    text: "The server of the image URL failed.",
  },
  requestTooLarge: {
    code: "2010",
    grpc: Code.ResourceExhausted,
    http: 413,
    retry: false,
    text: "The request body is too large.",
  },
  headersTooLarge: {
    code: "2011",
    grpc: Code.InvalidArgument,
    http: 431,
    retry: false,
    text: "The request headers are too large.",
  },
  unsupportedEncoding: {
    code: "2012",
    grpc: Code.Unimplemented,
    http: 415,
    retry: false,
    text: "The content encoding of the request body is not supported.",
  },
  noFace: {
    code: "3001",
    grpc: Code.FailedPrecondition,
    http: 422,
    retry: false,
    text: "No face was found in the image.",
  },
  noFaceInBox: {
    code: "3002",
    grpc: Code.FailedPrecondition,
    http: 422,
    retry: false,
    text: "No face was found in the bounding box.",
  },
  faceTooSmall: {
    code: "3101",
    grpc: Code.FailedPrecondition,
    http: 422,
    retry: false,
    text: "Face too Small",
  },
  lowIllumination: {
    code: "3102",
    grpc: Code.FailedPrecondition,
    http: 422,
    retry: false,
    text: "Low Illumination",
  },
  incorrectPose: {
    code: "3103",
    grpc: Code.FailedPrecondition,
    http: 422,
    retry: false,
    text: "Incorrect Pose",
  },
  noUserId: {
    code: "4001",
    grpc: Code.Unauthenticated,
    http: 401,
    retry: false,
    text: "The header user_id is missing.",
  },
  unknownUser: {
    code: "4002",
    grpc: Code.Unauthenticated,
    http: 401,
    retry: false,
    text: "The user id in the header user_id is unknown or disabled.",
  },
  noSubscription: {
    code: "4003",
    grpc: Code.PermissionDenied,
    http: 402,
    retry: false,
    text: "The user has no active subscription.",
  },
  quotaSpent: {
    code: "4004",
    grpc: Code.ResourceExhausted,
    http: 429,
    retry: true,
    text: "The monthly quota of requests is used up.",
  },
  tooManyRequests: {
    code: "4005",
    grpc: Code.ResourceExhausted,
    http: 429,
    retry: true,
    text: "Too many requests were sent in a short time.",
  },
  tooManyInFlight: {
    code: "4006",
    grpc: Code.ResourceExhausted,
    http: 429,
    retry: true,
    text: "Too many requests of this user are in progress.",
  },
  noSuchPath: {
    code: "4040",
    grpc: Code.Unimplemented,
    http: 404,
    retry: false,
    text: "This path does not exist.",
  },
  wrongMethod: {
    code: "4050",
    grpc: Code.Unimplemented,
    http: 405,
    retry: false,
    text: "This path accepts only POST.",
  },
  internal: {
    code: "5000",
    grpc: Code.Internal,
    http: 500,
    retry: true,
    text: "Internal error.",
  },
  overloaded: {
    code: "5001",
    grpc: Code.Unavailable,
    http: 503,
    retry: true,
    text: "The service is overloaded and the request can be retried shortly.",
  },
  draining: {
    code: "5002",
    grpc: Code.Unavailable,
    http: 503,
    retry: true,
    text: "The service is shutting down and the request can be retried.",
  },
  deadlinePassed: {
    code: "5003",
    grpc: Code.DeadlineExceeded,
    http: 504,
    retry: true,
    text: "The request took longer than its deadline allows.",
  },
  requestTooSlow: {
    code: "5004",
    grpc: Code.DeadlineExceeded,
    http: 408,
    retry: true,
    text: "The request was sent too slowly.",
  },
  accountsUnavailable: {
    code: "5005",
    grpc: Code.Unavailable,
    http: 503,
    retry: true,
    text: "User accounts cannot be checked at the moment.",
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;

/** The name of an error kind. */
export type ErrorKind = keyof typeof ERRORS;

/** Converts a kind to `google.rpc.ErrorInfo.reason`: noFaceInBox to NO_FACE_IN_BOX. */
export function reasonOf(kind: ErrorKind): string {
  return kind.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** Converts a reason back to its kind, if there is one. */
export function kindOf(reason: string): ErrorKind | undefined {
  return (Object.keys(ERRORS) as ErrorKind[]).find((kind) => reasonOf(kind) === reason);
}
