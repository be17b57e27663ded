import type { JsonObject } from "@bufbuild/protobuf";
import type { ServiceMetadata } from "./api-metadata.ts";
import { typedMetadata } from "./typed-metadata.ts";

/** Creates the metadata of visage.v1.GalleryService, which shares messages and errors with FaceAnalysisService. */
export function galleryMetadata(): ServiceMetadata {
  const shared = typedMetadata();
  return {
    ...shared,
    fields: { ...shared.fields, ...FIELDS },
    required: [...shared.required, ...REQUIRED],
    // The other service has other errors for the same statuses.
    responsePrefix: "V1Gallery",
    streamErrorStatuses: [],
  };
}

const ID = { pattern: "^[A-Za-z0-9_.~-]{1,128}$" };
/** The service counts bytes, so a shorter name may be too long. */
const NAME = { maxLength: 256 };
const COUNT = { minimum: 0 };
const SHARE = { minimum: 0, maximum: 1 };
const DISTANCE = { minimum: 0, maximum: 0.9 };
const PAGE_SIZE = { minimum: 0, maximum: 1000 };

const FIELDS: Readonly<Record<string, JsonObject>> = {
  ...ofMessages(["CreateGallery", "GetGallery", "UpdateGallery", "DeleteGallery"], { gallery_id: ID }),
  ...ofMessages(
    ["EnrolFace", "GetPerson", "UpdatePerson", "DeletePerson", "ExportPerson", "DeleteFace", "ImportFaces"],
    { gallery_id: ID, person_id: ID },
  ),
  ...ofMessages(["ListPeople", "IdentifyFaces", "ExportGallery", "ReplaceGallery"], { gallery_id: ID }),
  ...ofMessages(["CreateGallery", "UpdateGallery"], { display_name: NAME, max_distance: DISTANCE }),
  ...ofMessages(["EnrolFace", "UpdatePerson", "ImportFaces"], { display_name: NAME }),
  ...ofMessages(["ListGalleries", "ListPeople"], { page_size: PAGE_SIZE }),
  // Empty text means that there is no id.
  ...ofMessages(["EnrolFace", "ImportFaces"], { face_id: { pattern: "^[A-Za-z0-9_.~-]{0,128}$" } }),
  "visage.v1.DeleteFaceRequest.face_id": ID,
  "visage.v1.ReplaceGalleryRequest.successor_id": ID,
  // Empty text removes the alias.
  "visage.v1.UpdateGalleryRequest.alias": { pattern: "^[A-Za-z0-9_.~-]{0,128}$" },
  "visage.v1.IdentifyFacesRequest.max_results": { minimum: 0, maximum: 100 },
  "visage.v1.IdentifyFacesRequest.max_distance": DISTANCE,
  "visage.v1.IdentifyFacesResponse.threshold": DISTANCE,
  "visage.v1.IdentifyFacesResponse.false_positive_rate": SHARE,
  "visage.v1.PersonMatch.distance": DISTANCE,
  "visage.v1.ImportFacesResponse.face_count": COUNT,
  "visage.v1.PersonDeletion.face_count": COUNT,
  "visage.v1.Gallery.max_distance": DISTANCE,
  "visage.v1.Gallery.people_count": COUNT,
  "visage.v1.Gallery.face_count": COUNT,
};

/** Creates the keywords of fields that several requests have. */
function ofMessages(
  methods: readonly string[],
  fields: Readonly<Record<string, JsonObject>>,
): Record<string, JsonObject> {
  return Object.fromEntries(
    methods.flatMap((method) =>
      Object.entries(fields).map(([field, keywords]) => [`visage.v1.${method}Request.${field}`, keywords]),
    ),
  );
}

const REQUIRED: readonly string[] = [
  "visage.v1.Gallery.create_time",
  "visage.v1.Person.create_time",
  "visage.v1.EnrolledFace.create_time",
  "visage.v1.ExportGalleryResponse.embedding",
  "visage.v1.ExportGalleryResponse.create_time",
  "visage.v1.ExportPersonResponse.create_time",
  "visage.v1.ExportedFace.embedding",
  "visage.v1.ExportedFace.create_time",
  "visage.v1.DeletePersonResponse.delete_time",
  ...["Create", "Get", "Update", "Replace"].map((verb) => `visage.v1.${verb}GalleryResponse.gallery`),
  ...["Get", "Update"].map((verb) => `visage.v1.${verb}PersonResponse.person`),
];
