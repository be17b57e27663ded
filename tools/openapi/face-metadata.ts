import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { ERRORS, type ErrorKind, reasonFromKind } from "../../src/service/error-table.ts";
import { LANDMARK_KEYS } from "../../src/service/landmark-keys.ts";
import type { ApiMetadata, ErrorDescription, HeaderDescription, RequestFormat } from "./api-metadata.ts";
import { PROBE_PATHS, PROBE_TAG } from "./probes.ts";

/** Creates the metadata of the face service. */
export function faceMetadata(version: string): ApiMetadata {
  return {
    info: {
      title: "Visage",
      version,
      summary: "Face analysis: matching, attributes, 68 landmarks and 128-number vectors.",
      license: { name: "Apache License 2.0", identifier: "Apache-2.0" },
    },
    securitySchemes: {
      user_id: {
        type: "apiKey",
        in: "header",
        name: "user_id",
        description: "The id of a user with an active subscription.",
      },
    },
    formats: FORMATS,
    fields: FIELDS,
    required: REQUIRED,
    errorEnvelope,
    errors: ERROR_DESCRIPTIONS,
    headers: HEADERS,
    otherPaths: PROBE_PATHS,
    otherTags: [PROBE_TAG],
  };
}

const NUMBER = " *-?[0-9]{1,9}(\\.[0-9]+)? *";

const FORMATS: Readonly<Record<string, RequestFormat>> = {
  "face.v1.Image": {
    text: {
      type: "string",
      anyOf: [
        { title: "Base64", pattern: "^[A-Za-z0-9+/_-]+={0,2}$" },
        { title: "data URI", pattern: "^data:[^,]*;base64,[A-Za-z0-9+/_-]+={0,2}$" },
        { title: "URL", pattern: "^https?://" },
      ],
    },
    // A PNG of one grey pixel, so that an operation can be tried without a photograph.
    example: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVQI12NoAAAAggCB3UNq9AAAAABJRU5ErkJggg==",
    file: ["image/jpeg", "image/png"],
  },
  "face.v1.BoundingBox": {
    // Empty text means that there is no box.
    text: { title: "x1,y1,x2,y2", type: "string", pattern: `^ *(${NUMBER}(,${NUMBER}){3})?$` },
    json: { type: "array", items: { type: "number" }, minItems: 4, maxItems: 4 },
  },
};

const RECTANGLE = { minItems: 4, maxItems: 4 };

const FIELDS: Readonly<Record<string, JsonObject>> = {
  ...envelope("MatchFacesResponse", "Fetched confidence value."),
  ...envelope("CompareFacesResponse", "Fetched confidence value."),
  ...envelope("GetImageAttrResponse", "Fetched attributes."),
  ...envelope("GetFaceVecResponse", "Fetched vector data."),
  "face.v1.MatchFacesData.score": { pattern: "^0\\.([0-8][0-9]{3}|9000)$", examples: ["0.3127"] },
  "face.v1.MatchFacesData.status": { enum: ["match", "not a match"] },
  "face.v1.CompareFacesData.confidence": { pattern: "^(0\\.[0-9]{4}|1\\.0000)$", examples: ["0.9112"] },
  "face.v1.GetFaceVecData.vector": { minItems: 128, maxItems: 128 },
  "face.v1.Attributes.faces": { propertyNames: { pattern: "^face_id_(0|[1-9][0-9]*)$" } },
  "face.v1.Attributes.image_size": { minItems: 2, maxItems: 2, examples: [[1280, 1920]] },
  "face.v1.Face.age": { enum: ["0-10", "10-20", "20-40", "40-60", "60-100"] },
  "face.v1.Face.face_rectangle": RECTANGLE,
  "face.v1.Face.gender": { enum: ["male", "female"] },
  "face.v1.Face.gender_confidence": { minimum: 0.501, maximum: 1 },
  "face.v1.Landmarks.face_land_mark": {
    propertyNames: { enum: [...LANDMARK_KEYS] },
    minProperties: LANDMARK_KEYS.length,
    maxProperties: LANDMARK_KEYS.length,
  },
  "face.v1.Detail.images": { minItems: 1, maxItems: 2 },
  "face.v1.ImageDetail.faces_found": { minimum: 0 },
  "face.v1.FaceDetail.face_rectangle": RECTANGLE,
  "face.v1.FaceDetail.score": { minimum: 0, maximum: 1 },
  "face.v1.FaceDetail.face_size": { minItems: 2, maxItems: 2 },
  "face.v1.FaceDetail.light": { minimum: 0, maximum: 255 },
};

function envelope(response: string, message: string): Record<string, JsonObject> {
  return {
    [`face.v1.${response}.status`]: { const: "ok" },
    [`face.v1.${response}.code`]: { const: "1000" },
    [`face.v1.${response}.success`]: { const: true },
    [`face.v1.${response}.message`]: { const: message },
  };
}

const REQUIRED: readonly string[] = [
  "face.v1.MatchFacesRequest.img_1",
  "face.v1.MatchFacesRequest.img_2",
  "face.v1.MatchFacesResponse.data",
  "face.v1.CompareFacesRequest.img_1",
  "face.v1.CompareFacesRequest.img_2",
  "face.v1.CompareFacesResponse.data",
  "face.v1.GetImageAttrRequest.image_attr",
  "face.v1.GetImageAttrResponse.data",
  "face.v1.GetImageAttrData.attributes",
  "face.v1.Face.landmarks",
  "face.v1.GetFaceVecRequest.img",
  "face.v1.GetFaceVecResponse.data",
];

const ERROR_DESCRIPTIONS: readonly ErrorDescription[] = Object.entries(ERRORS).map(
  ([kind, { code, http, retryable, text }]) => ({
    reason: reasonFromKind(kind as ErrorKind),
    code,
    http,
    retryable,
    text,
  }),
);

function errorEnvelope(codes: readonly string[]): JsonObject {
  return {
    type: "object",
    required: ["status", "code", "success", "message", "data"],
    properties: {
      status: { const: "error" },
      code: { type: "string", enum: [...codes], description: "Stable error code; see the table." },
      success: { const: false },
      message: { type: "string", description: "What is wrong, in one sentence." },
      data: {
        type: "object",
        required: ["reason", "retryable"],
        properties: {
          reason: { type: "string", enum: ERROR_DESCRIPTIONS.map(({ reason }) => reason) },
          retryable: { type: "boolean", description: "Whether the same request can succeed later." },
        },
      },
    },
  };
}

const COUNT = { type: "integer", minimum: 0 };

/** The HTTP statuses whose errors can all be retried. */
const RETRYABLE_STATUSES = new Set(
  Object.values(ERRORS)
    .filter(({ retryable }) => retryable)
    .map(({ http }) => http),
);

const HEADERS: readonly HeaderDescription[] = [
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
    appliesTo: (status) => status === 200,
  },
  {
    name: "x-visage-image",
    description: "The image that caused the error, or another field that cannot be read.",
    schema: { type: "string", examples: ["img_1"] },
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
    description: "Seconds to wait before a retry.",
    schema: COUNT,
    always: true,
    appliesTo: (status) => RETRYABLE_STATUSES.has(status),
  },
  {
    name: "deprecation",
    description: "Date since which the operation is deprecated (RFC 9745).",
    schema: { type: "string", pattern: "^@[0-9]+$" },
    always: true,
    appliesTo: isDeprecatedSuccess,
  },
  {
    name: "link",
    description: "The operation that replaces this one (RFC 8288).",
    schema: { type: "string", const: '</match_faces>; rel="successor-version"' },
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
