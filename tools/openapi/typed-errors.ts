import type { JsonObject } from "@bufbuild/protobuf";
import { statusJsonFrom } from "../../src/service/error-responses.ts";
import { ERRORS, kindFromReason, reasonFromKind } from "../../src/service/error-table.ts";
import { ServiceError } from "../../src/service/service-error.ts";
import type { ErrorDescription } from "./api-metadata.ts";

/** The schema of error responses. Codes and reasons are no enums: generated clients would reject new values. */
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

/** Creates the response to a request that failed with this error. */
export function statusExample({ reason }: ErrorDescription): JsonObject {
  return statusJsonFrom(new ServiceError(kindFromReason(reason)!));
}
