import { ERRORS, type ErrorKind, reasonFromKind } from "../../src/service/error-table.ts";
import type { ErrorDescription } from "./api-metadata.ts";

/** Every error of the service, in the order of the codes. */
export const ERROR_DESCRIPTIONS: readonly ErrorDescription[] = Object.entries(ERRORS).map(
  ([kind, { code, http, retryable, text }]) => ({
    reason: reasonFromKind(kind as ErrorKind),
    code,
    http,
    retryable,
    text,
  }),
);
