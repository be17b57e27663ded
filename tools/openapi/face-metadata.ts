import type { JsonObject } from "@bufbuild/protobuf";
import { httpErrorFrom } from "../../src/service/error-responses.ts";
import { ERROR_KINDS, ERRORS } from "../../src/service/error-table.ts";
import { LANDMARK_KEYS } from "../../src/service/landmark-keys.ts";
import { ServiceError } from "../../src/service/service-error.ts";
import type { RequestFormat, ServiceMetadata } from "./api-metadata.ts";
import { BOX_FORMAT } from "./box-format.ts";
import { ERROR_ENVELOPE, errorsOf } from "./errors.ts";
import { EXAMPLE_BOX, readExamples } from "./examples.ts";
import { HEADERS } from "./headers.ts";

/** Creates the metadata of face.v1.FaceService. */
export function faceMetadata(): ServiceMetadata {
  return {
    prefix: "",
    hasMessageBodies: false,
    formats: FORMATS,
    fields: FIELDS,
    required: REQUIRED,
    optional: [],
    examples: readExamples(),
    errorSchema: ERROR_ENVELOPE,
    errorSchemaName: "ErrorResponse",
    errorExample: (kind) => httpErrorFrom(new ServiceError(kind)).body,
    errorsOfSchema: ERROR_KINDS.filter(
      (kind) => ERRORS[kind].operations.length === 0 || errorsOf("FaceService").includes(kind),
    ),
    responsePrefix: "",
    streamErrorStatuses: [],
    headers: HEADERS,
  };
}

const FORMATS: Readonly<Record<string, RequestFormat>> = {
  "face.v1.Image": {
    text: { type: "string", description: "Base64, a data URI or an http(s) URL." },
    file: ["image/jpeg", "image/png"],
  },
  "face.v1.BoundingBox": BOX_FORMAT,
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
