import { ACCESS_ERRORS } from "./errors/access-errors.ts";
import { ACCOUNT_ERRORS } from "./errors/account-errors.ts";
import { FACE_ERRORS } from "./errors/face-errors.ts";
import { GALLERY_ERRORS } from "./errors/gallery-errors.ts";
import { REQUEST_ERRORS } from "./errors/request-errors.ts";
import { SERVER_ERRORS } from "./errors/server-errors.ts";

/** Every kind of error that a request can end with, in the order of their codes. */
export const ERRORS = {
  ...REQUEST_ERRORS,
  ...FACE_ERRORS,
  ...ACCESS_ERRORS,
  ...SERVER_ERRORS,
  ...GALLERY_ERRORS,
  ...ACCOUNT_ERRORS,
};

/** The name of an error kind. */
export type ErrorKind = keyof typeof ERRORS;

/** Every kind, in the order of the codes. */
export const ERROR_KINDS = Object.keys(ERRORS) as readonly ErrorKind[];

/** Converts a kind to `google.rpc.ErrorInfo.reason`: noFaceInBox to NO_FACE_IN_BOX. */
export function reasonFromKind(kind: ErrorKind): string {
  return kind.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** Converts a reason back to its kind, if there is one. */
export function kindFromReason(reason: string): ErrorKind | undefined {
  return ERROR_KINDS.find((kind) => reasonFromKind(kind) === reason);
}
