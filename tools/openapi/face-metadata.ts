import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { ERRORS } from "../../src/service/error-table.ts";
import { LANDMARK_KEYS } from "../../src/service/landmark-keys.ts";
import type { ApiMetadata, HeaderDescription, RequestFormat } from "./api-metadata.ts";
import { EXAMPLE_BOX, readExamples } from "./examples.ts";
import { ERROR_DESCRIPTIONS, ERROR_ENVELOPE, errorExample } from "./face-errors.ts";
import { PROBE_PATHS, PROBE_TAG } from "./probes.ts";

/** Creates the metadata of the face service. */
export function faceMetadata(version: string): ApiMetadata {
  return {
    info: {
      title: "Visage",
      version,
      license: { name: "Apache License 2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    securitySchemes: SECURITY_SCHEMES,
    formats: FORMATS,
    fields: FIELDS,
    required: REQUIRED,
    examples: readExamples(),
    errorEnvelope: ERROR_ENVELOPE,
    errorExample,
    errors: ERROR_DESCRIPTIONS,
    headers: HEADERS,
    otherPaths: PROBE_PATHS,
    otherTags: [PROBE_TAG],
  };
}

const SECURITY_SCHEMES: JsonObject = {
  user_id: {
    type: "apiKey",
    in: "header",
    name: "user_id",
    description: "A key of a user with an active subscription.",
  },
  api_key: { type: "apiKey", in: "header", name: "x-api-key", description: "The same key." },
  bearer: { type: "http", scheme: "bearer", description: "The same key." },
};

const NUMBER = " *-?[0-9]{1,9}(\\.[0-9]+)? *";

const FORMATS: Readonly<Record<string, RequestFormat>> = {
  "face.v1.Image": {
    text: { type: "string", description: "Base64, a data URI or an http(s) URL." },
    file: ["image/jpeg", "image/png"],
  },
  "face.v1.BoundingBox": {
    // Empty text means that there is no box.
    text: { type: "string", pattern: `^ *(${NUMBER}(,${NUMBER}){3})?$` },
    // Tools that fill in an example take the first one, and no other box is valid for every image.
    examples: [
      { name: "none", summary: "No box", value: "" },
      { name: "face", summary: "The face in the example images", value: EXAMPLE_BOX },
    ],
  },
};

const RECTANGLE = { minItems: 4, maxItems: 4, example: EXAMPLE_BOX.split(",").map(Number) };

const FIELDS: Readonly<Record<string, JsonObject>> = {
  ...envelope("MatchFacesResponse", "Fetched confidence value."),
  ...envelope("CompareFacesResponse", "Fetched confidence value."),
  ...envelope("GetImageAttrResponse", "Fetched attributes."),
  ...envelope("GetFaceVecResponse", "Fetched vector data."),
  "face.v1.MatchFacesData.score": { pattern: "^0\\.([0-8][0-9]{3}|9000)$", example: "0.3127" },
  "face.v1.MatchFacesData.status": { enum: ["match", "not a match"] },
  "face.v1.CompareFacesData.confidence": { pattern: "^(0\\.[0-9]{4}|1\\.0000)$", example: "0.9112" },
  // With maxItems, TypeScript generators declare a tuple of 128 elements.
  "face.v1.GetFaceVecData.vector": { minItems: 128 },
  "face.v1.Attributes.image_size": { minItems: 2, maxItems: 2, example: [1280, 1920] },
  "face.v1.Face.age": { enum: ["0-10", "10-20", "20-40", "40-60", "60-100"] },
  "face.v1.Face.face_rectangle": RECTANGLE,
  "face.v1.Face.gender": { enum: ["male", "female"] },
  "face.v1.Face.gender_confidence": { minimum: 0.501, maximum: 1 },
  "face.v1.Landmarks.face_land_mark": {
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
    [`face.v1.${response}.status`]: { example: "ok" },
    [`face.v1.${response}.code`]: { example: "1000" },
    [`face.v1.${response}.success`]: { example: true },
    [`face.v1.${response}.message`]: { example: message },
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
    schema: { type: "string", example: '</match_faces>; rel="successor-version"' },
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
