import type { JsonObject } from "@bufbuild/protobuf";
import { ERRORS, type ErrorKind, reasonFromKind } from "../../src/service/error-table.ts";
import type { ErrorDescription } from "./api-metadata.ts";

/** Every error of the face service, in the order of the codes. */
export const ERROR_DESCRIPTIONS: readonly ErrorDescription[] = Object.entries(ERRORS).map(
  ([kind, { code, http, retryable, text }]) => ({
    reason: reasonFromKind(kind as ErrorKind),
    code,
    http,
    retryable,
    text,
  }),
);

/** The schema of error responses. Codes and reasons are no enums: generated clients would reject new values. */
export const ERROR_ENVELOPE: JsonObject = {
  type: "object",
  required: ["status", "code", "success", "message", "data"],
  properties: {
    status: { type: "string", description: "Always `error`.", example: "error" },
    code: { type: "string", description: "Stable error code; see the table.", example: ERRORS.noFace.code },
    success: { type: "boolean", description: "Always `false`.", example: false },
    message: { type: "string", description: "What is wrong, in one sentence.", example: ERRORS.noFace.text },
    data: {
      type: "object",
      required: ["reason", "retryable"],
      properties: {
        reason: {
          type: "string",
          description: "Stable name of the error; see the table.",
          example: reasonFromKind("noFace"),
        },
        retryable: {
          type: "boolean",
          description: "Whether the same request can succeed later.",
          example: ERRORS.noFace.retryable,
        },
      },
    },
  },
};

/** Creates the response to a request that failed with this error. */
export function errorExample({ code, reason, retryable, text }: ErrorDescription): JsonObject {
  return { status: "error", code, success: false, message: text, data: { reason, retryable } };
}
