import { Code } from "@connectrpc/connect";

/** What one kind of failure is called on each wire. */
export interface ErrorRow {
  /** The envelope's `code`, which stays the same for good. */
  readonly code: string;
  readonly grpc: Code;
  readonly http: number;
  /** Whether sending the same request again can help. */
  readonly retry: boolean;
  /**
   * One sentence for the caller, where the place of failure says nothing better. Without comma, colon and
   * semicolon, which grpc-js shows as percent codes.
   */
  readonly text: string;
}

/** Every way in which a request can fail. */
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
    text: "The box is malformed.",
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
  requestTooLarge: {
    code: "2005",
    grpc: Code.ResourceExhausted,
    http: 413,
    retry: false,
    text: "The request is too large.",
  },
  urlUnreachable: {
    code: "2006",
    grpc: Code.FailedPrecondition,
    http: 502,
    retry: true,
    text: "The image could not be fetched from its URL.",
  },
  urlRefused: {
    code: "2007",
    grpc: Code.FailedPrecondition,
    http: 502,
    retry: false,
    text: "The image URL answers with an error.",
  },
  urlFailed: {
    code: "2007",
    grpc: Code.FailedPrecondition,
    http: 502,
    retry: true,
    text: "The image URL answers with a server error.",
  },
  urlTooSlow: {
    code: "2008",
    grpc: Code.FailedPrecondition,
    http: 504,
    retry: true,
    text: "The image did not arrive from its URL in time.",
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
    text: "No face was found in the box.",
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
    text: "The request carries no user id in the header user_id.",
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
    text: "The user has no live subscription.",
  },
  quotaSpent: {
    code: "4004",
    grpc: Code.ResourceExhausted,
    http: 429,
    retry: true,
    text: "The requests of this month are spent.",
  },
  tooManyRequests: {
    code: "4005",
    grpc: Code.ResourceExhausted,
    http: 429,
    retry: true,
    text: "Requests come faster than is allowed.",
  },
  noSuchPath: {
    code: "4040",
    grpc: Code.Unimplemented,
    http: 404,
    retry: false,
    text: "There is no such path.",
  },
  wrongMethod: {
    code: "4050",
    grpc: Code.Unimplemented,
    http: 405,
    retry: false,
    text: "This path takes POST.",
  },
  internal: { code: "5000", grpc: Code.Internal, http: 500, retry: true, text: "Internal error." },
  overloaded: {
    code: "5001",
    grpc: Code.Unavailable,
    http: 503,
    retry: true,
    text: "The service is overloaded and may be tried again in a moment.",
  },
  draining: {
    code: "5002",
    grpc: Code.Unavailable,
    http: 503,
    retry: true,
    text: "The service is shutting down and may be tried again.",
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
    text: "Accounts cannot be checked at the moment.",
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;

/** The name of one kind of failure. */
export type ErrorKind = keyof typeof ERRORS;

/** The kind's name as `google.rpc.ErrorInfo.reason`: NO_FACE_IN_BOX for noFaceInBox. */
export function reasonOf(kind: ErrorKind): string {
  return kind.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** The kind that a reason names, if any. */
export function kindOf(reason: string): ErrorKind | undefined {
  return (Object.keys(ERRORS) as ErrorKind[]).find((kind) => reasonOf(kind) === reason);
}
