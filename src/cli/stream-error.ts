// The errors of a stream of images, and of the images on it.
import { Code, ConnectError } from "@connectrpc/connect";
import { connectionError, type VisageError, visageErrorFromCause } from "../client/visage-error.ts";

/** Errors that every image of the user would have. */
const ACCOUNT_ERRORS: readonly string[] = ["NO_USER_ID", "UNKNOWN_USER", "NO_SUBSCRIPTION", "QUOTA_SPENT"];

/** Errors of an image that say nothing about it: the service did not look at it. */
const REJECTIONS: readonly string[] = [
  "OVERLOADED",
  "DRAINING",
  "TOO_MANY_REQUESTS",
  "TOO_MANY_IN_FLIGHT",
  "ACCOUNTS_UNAVAILABLE",
];

/** Codes without an error of the service that stay the same: the address is not that of such a service. */
const LASTING_CODES: readonly Code[] = [
  Code.Unimplemented,
  Code.NotFound,
  Code.Unauthenticated,
  Code.PermissionDenied,
  Code.InvalidArgument,
];

/** Whether the error of an image is one of the user's account. */
export function isAccountError({ reason }: VisageError): boolean {
  return ACCOUNT_ERRORS.includes(reason);
}

/** Whether the error of an image may be the fault of the image. */
export function isPhotoError({ reason }: VisageError): boolean {
  return !REJECTIONS.includes(reason);
}

/**
 * Converts whatever has ended a stream. Without an error of the service, the connection was lost or never made, and
 * another one may help.
 */
export function streamErrorFrom(fault: unknown): VisageError {
  const error = visageErrorFromCause(fault);
  if (error.code !== undefined) return error;
  const retryable = !LASTING_CODES.includes(ConnectError.from(fault).code);
  return connectionError("UNREACHABLE", error.message, { retryable, cause: fault });
}
