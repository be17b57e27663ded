import type { JsonObject } from "@bufbuild/protobuf";
import type { DocumentMetadata } from "./api-metadata.ts";
import { PROBE_PATHS, PROBE_TAG } from "./probes.ts";

const DESCRIPTION = `Face analysis: find, measure and compare faces in images.

FaceService is the API of the original service, with its envelopes, field names and texts. FaceAnalysisService is the typed API: numbers, enums and ordered lists, many images in one stream, and comparison with stored embeddings. GalleryService enrols people and identifies faces. All use the same networks, accounts and errors. AccountService shows the caller its plan, usage and keys. AdminService is for the operator and off unless the service has an admin key.`;

/** Creates the metadata of the document for a version of the package. */
export function documentMetadata(version: string): DocumentMetadata {
  return {
    info: {
      title: "Visage",
      version,
      license: { name: "Apache License 2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
      description: DESCRIPTION,
    },
    securitySchemes: { ...USER_SCHEMES, ...ADMIN_SCHEMES },
    security: Object.keys(USER_SCHEMES),
    otherPaths: PROBE_PATHS,
    otherTags: [PROBE_TAG],
  };
}

const USER_SCHEMES: JsonObject = {
  user_id: {
    type: "apiKey",
    in: "header",
    name: "user_id",
    description: "A key of a user with an active subscription.",
  },
  api_key: { type: "apiKey", in: "header", name: "x-api-key", description: "The same key." },
  bearer: { type: "http", scheme: "bearer", description: "The same key." },
};

const ADMIN_SCHEMES: JsonObject = {
  admin_key: { type: "http", scheme: "bearer", description: "The key in the setting VISAGE_ADMIN_KEY." },
};
