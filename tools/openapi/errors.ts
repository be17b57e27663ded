import { ERRORS, type ErrorKind, isGalleryError, reasonFromKind } from "../../src/service/error-table.ts";
import type { ErrorDescription } from "./api-metadata.ts";

/** Every error of the described operations, in the order of the codes. */
export const ERROR_DESCRIPTIONS: readonly ErrorDescription[] = (Object.keys(ERRORS) as ErrorKind[])
  .filter((kind) => !isGalleryError(kind))
  .map((kind) => {
    const { code, http, retryable, text } = ERRORS[kind];
    return { reason: reasonFromKind(kind), code, http, retryable, text };
  });
