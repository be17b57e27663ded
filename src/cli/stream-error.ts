import type { VisageError } from "../client/visage-error.ts";

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

/** Whether the error of an image is one of the user's account. */
export function isAccountError({ reason }: VisageError): boolean {
  return ACCOUNT_ERRORS.includes(reason);
}

/** Whether the error of an image may be the fault of the image. */
export function isPhotoError({ reason }: VisageError): boolean {
  return !REJECTIONS.includes(reason);
}
