import type { JsonObject } from "@bufbuild/protobuf";
import { ERRORS, reasonFromKind } from "../../src/service/error-table.ts";
import type { ErrorDescription } from "./api-metadata.ts";

/** The schema of error responses. Codes and reasons are no enums: generated clients would reject new values. */
export const ERROR_ENVELOPE: JsonObject = {
  description: "Every error response, also for paths that do not exist.",
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
