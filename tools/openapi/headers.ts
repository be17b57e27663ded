import type { DescMethod } from "@bufbuild/protobuf";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { ERRORS } from "../../src/service/error-table.ts";
import { COMPARE_DEPRECATION } from "../../src/service/face-service.ts";
import type { HeaderDescription } from "./api-metadata.ts";

const COUNT = { type: "integer", minimum: 0 };

/** The HTTP statuses of errors that can be retried. */
const RETRYABLE_STATUSES = new Set(
  Object.values(ERRORS)
    .filter(({ retryable }) => retryable)
    .map(({ http }) => http),
);

/** The headers of all responses. */
export const HEADERS: readonly HeaderDescription[] = [
  {
    name: "x-request-id",
    description: "Id of the request in the log. A well-formed id sent by the client is kept.",
    schema: { type: "string", pattern: "^[A-Za-z0-9_.:-]{1,64}$" },
    always: true,
    appliesTo: () => true,
  },
  {
    name: "x-visage-model",
    description:
      "Identity of the networks and preprocessing. Only vectors of the same model can be compared.",
    schema: { type: "string" },
    always: true,
    // Messages of the typed API have the model in a field.
    appliesTo: (status, method) => status === 200 && method?.parent.typeName === FaceService.typeName,
  },
  {
    name: "x-visage-image",
    description: "The image that caused the error, or another field that cannot be read.",
    schema: { type: "string", example: "img_1" },
    always: false,
    appliesTo: (status) => status !== 200,
  },
  {
    name: "x-visage-faces-found",
    description: "Number of faces in the image, if there are more than the 256 that were processed.",
    schema: COUNT,
    always: false,
    appliesTo: (status, method) => status === 200 && method?.name === "GetImageAttr",
  },
  {
    name: "ratelimit-limit",
    description: "Requests that the plan allows per month, or per second if that limit is used up.",
    schema: COUNT,
    always: false,
    appliesTo: isAuthenticated,
  },
  {
    name: "ratelimit-remaining",
    description: "Requests that remain.",
    schema: COUNT,
    always: false,
    appliesTo: isAuthenticated,
  },
  {
    name: "ratelimit-reset",
    description: "Seconds until the limit is reset.",
    schema: COUNT,
    always: false,
    appliesTo: isAuthenticated,
  },
  {
    name: "retry-after",
    description: "Seconds to wait before a retry. Missing if the quota of the month is spent.",
    schema: COUNT,
    always: false,
    appliesTo: (status) => RETRYABLE_STATUSES.has(status),
  },
  {
    name: "deprecation",
    description: "Date since which the operation is deprecated (RFC 9745).",
    schema: { type: "string", pattern: "^@[0-9]+$", example: COMPARE_DEPRECATION.deprecation },
    always: true,
    appliesTo: isDeprecatedSuccess,
  },
  {
    name: "sunset",
    description: "Date until which the operation is served at least (RFC 8594).",
    schema: { type: "string", example: COMPARE_DEPRECATION.sunset },
    always: true,
    appliesTo: isDeprecatedSuccess,
  },
  {
    name: "link",
    description: "The operation that replaces this one, and its documentation (RFC 8288).",
    schema: { type: "string", example: COMPARE_DEPRECATION.link },
    always: true,
    appliesTo: isDeprecatedSuccess,
  },
];

/** Limits belong to a user, so responses to unauthenticated requests have none. */
function isAuthenticated(status: number): boolean {
  return status !== 401;
}

function isDeprecatedSuccess(status: number, method?: DescMethod): boolean {
  return status === 200 && method?.deprecated === true;
}
