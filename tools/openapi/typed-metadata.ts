import type { JsonObject } from "@bufbuild/protobuf";
import { file_visage_v1_face_analysis } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { statusJsonFrom } from "../../src/service/error-responses.ts";
import { ERROR_KINDS } from "../../src/service/error-table.ts";
import { ServiceError } from "../../src/service/service-error.ts";
import type { RequestFormat, ServiceMetadata } from "./api-metadata.ts";
import { BOX_FORMAT } from "./box-format.ts";
import { ERROR_STATUS } from "./errors.ts";
import { readExamples } from "./examples.ts";
import { HEADERS } from "./headers.ts";

/** Creates the metadata of visage.v1.FaceAnalysisService. */
export function typedMetadata(): ServiceMetadata {
  return {
    // FaceService has messages and methods of the same names.
    prefix: "V1",
    hasMessageBodies: true,
    formats: FORMATS,
    fields: FIELDS,
    required: REQUIRED,
    // The last line of a stream that failed has no key.
    optional: ["visage.v1.AnalyzeImagesResponse.key"],
    examples: readExamples(),
    errorSchema: ERROR_STATUS,
    errorSchemaName: "Status",
    errorExample: (kind) => statusJsonFrom(new ServiceError(kind)),
    // All services of visage.v1 have the same schema.
    errorsOfSchema: ERROR_KINDS,
    responsePrefix: "V1",
    streamErrorStatuses: [400, 401, 402, 415, 429, 431, 500, 503],
    headers: HEADERS,
  };
}

const IMAGE_FILE: RequestFormat = { text: { type: "string" }, file: ["image/jpeg", "image/png"] };

const FORMATS: Readonly<Record<string, RequestFormat>> = {
  "visage.v1.Image": IMAGE_FILE,
  "visage.v1.FaceSource": IMAGE_FILE,
  "visage.v1.BoundingBox": BOX_FORMAT,
};

const SHARE = { minimum: 0, maximum: 1 };
const PERCENT = { minimum: 0, maximum: 100 };

const FIELDS: Readonly<Record<string, JsonObject>> = {
  "visage.v1.AnalyzeImageRequest.max_faces": { minimum: 0, maximum: 256 },
  "visage.v1.AnalyzeImageResponse.faces_found": { minimum: 0 },
  "visage.v1.AnalyzeImagesRequest.key": { maxLength: 1024 },
  "visage.v1.Face.detection_score": SHARE,
  "visage.v1.Face.presence": SHARE,
  "visage.v1.Face.prominence": SHARE,
  "visage.v1.Quality.brightness": { minimum: 0, maximum: 255 },
  "visage.v1.Quality.value": PERCENT,
  "visage.v1.ComponentQuality.value": PERCENT,
  // With maxItems, TypeScript generators declare a tuple of 128 elements.
  "visage.v1.Embedding.values": { minItems: 128 },
  "visage.v1.CompareFacesRequest.max_false_match_rate": SHARE,
  "visage.v1.CompareFacesResponse.false_match_rate": SHARE,
  ...Object.fromEntries(
    file_visage_v1_face_analysis.messages.flatMap(({ typeName, field }) =>
      field.confidence ? [[`${typeName}.confidence`, SHARE]] : [],
    ),
  ),
};

const REQUIRED: readonly string[] = ["visage.v1.AnalyzeImageResponse.image_size", "visage.v1.Face.box"];
