import {
  ERRORS,
  type ErrorKind,
  isAccountError,
  isGalleryError,
  reasonFromKind,
} from "../../src/service/error-table.ts";
import type { ErrorDescription } from "./api-metadata.ts";

const KINDS = Object.keys(ERRORS) as ErrorKind[];

/** Every error, in the order of the codes. */
export const ERROR_DESCRIPTIONS: readonly ErrorDescription[] = KINDS.map(describeError);

/** The errors of operations that use no gallery. */
export const ANALYSIS_ERROR_DESCRIPTIONS: readonly ErrorDescription[] = KINDS.filter(
  (kind) => !isAccountError(kind) && !isGalleryError(kind),
).map(describeError);

/** Describes a kind of error. */
export function describeError(kind: ErrorKind): ErrorDescription {
  const { code, http, retryable, text } = ERRORS[kind];
  return { reason: reasonFromKind(kind), code, http, retryable, text };
}
