import type { JsonObject } from "@bufbuild/protobuf";
import { ERROR_KINDS, ERRORS, type ErrorKind, reasonFromKind } from "../../src/service/error-table.ts";

/** The errors that any of these services and methods can end with, in the order of their codes. */
export function errorsOf(...names: readonly string[]): readonly ErrorKind[] {
  return ERROR_KINDS.filter((kind) => ERRORS[kind].operations.some((operation) => names.includes(operation)));
}

/** The schema of error responses of face.v1. Codes and reasons are no enums: generated clients would reject new values. */
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

/** The schema of error responses of visage.v1. */
export const ERROR_STATUS: JsonObject = {
  description: "An error: google.rpc.Status with `reason` and `retryable`.",
  type: "object",
  required: ["code", "message", "details", "reason", "retryable"],
  properties: {
    code: {
      type: "integer",
      format: "int32",
      description: "The code of google.rpc.Code, not the code in the table.",
      example: ERRORS.noFace.grpc,
    },
    message: { type: "string", description: "What is wrong, in one sentence.", example: ERRORS.noFace.text },
    details: {
      type: "array",
      description:
        "Messages of google.rpc with their type in `@type`: always ErrorInfo, and RetryInfo, QuotaFailure or BadRequest where they apply.",
      items: { type: "object", additionalProperties: true },
    },
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
};
