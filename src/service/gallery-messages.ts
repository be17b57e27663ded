// Checks of requests about galleries, and conversion of what is stored to messages.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  ExportGalleryResponseSchema,
  GallerySchema,
  PersonSchema,
} from "../../gen/ts/visage/v1/gallery_pb.ts";
import type { ExportedFace, Gallery, Person } from "../galleries/gallery-store.ts";
import { missingError, requireValid } from "./request-checks.ts";

/** Not `.` or `..`, which HTTP clients remove from a path. */
const ID = /^(?!\.{1,2}$)[\w.~-]{1,128}$/;
const MAX_NAME_CHARACTERS = 256;
const MAX_DISTANCE = 0.9;
const DEFAULT_PAGE_SIZE = 100;
const MAX_PAGE_SIZE = 1_000;

/** Whether a text is a valid id. */
export function isId(text: string): boolean {
  return ID.test(text);
}

/** Throws ServiceError `badRequest` unless a field has a valid id. */
export function requireId(field: string, id: string): void {
  if (id === "") throw missingError(field);
  requireValid(field, isId(id), "must be 1 to 128 letters and digits and . _ ~ -");
}

/** The id that stands for all galleries of a user. */
export const ALL_GALLERIES = "-";

/** Throws ServiceError `badRequest` unless a field has a valid id for a gallery. */
export function requireGalleryId(field: string, id: string): void {
  requireId(field, id);
  requireValid(field, id !== ALL_GALLERIES, `cannot be ${ALL_GALLERIES}, which stands for all galleries`);
}

/** Throws ServiceError `badRequest` if a name is too long or is no text that every database can store. */
export function requireName(displayName: string): void {
  const isText = !/\p{Surrogate}/u.test(displayName) && !displayName.includes("\0");
  requireValid("display_name", isText, "must be text without zero characters");
  // A character has one or two code units. Only short names are split into characters.
  const isShort =
    displayName.length <= 2 * MAX_NAME_CHARACTERS && [...displayName].length <= MAX_NAME_CHARACTERS;
  requireValid("display_name", isShort, `is longer than ${MAX_NAME_CHARACTERS} characters`);
}

/** Throws ServiceError `badRequest` if a threshold is out of range. */
export function requireDistance(distance: number | undefined): void {
  const isValid = distance === undefined || (distance > 0 && distance <= MAX_DISTANCE);
  requireValid("max_distance", isValid, `must be above 0 and at most ${MAX_DISTANCE}`);
}

/** Reads which page is asked for. Throws ServiceError `badRequest`. */
export function pageFrom(pageSize: number, pageToken: string): { after: string; size: number } {
  requireValid("page_size", pageSize >= 0 && pageSize <= MAX_PAGE_SIZE, `must be 0 to ${MAX_PAGE_SIZE}`);
  const after = Buffer.from(pageToken, "base64url").toString();
  const isToken = pageToken === "" || (ID.test(after) && tokenFrom(after) === pageToken);
  requireValid("page_token", isToken, "is not the token of a page");
  return { after, size: pageSize || DEFAULT_PAGE_SIZE };
}

/** The token of the page after these items. */
export function tokenAfter(items: readonly { readonly id: string }[]): string {
  return tokenFrom(items.at(-1)!.id);
}

/** Encoded, so that clients do not rely on its content. */
function tokenFrom(id: string): string {
  return Buffer.from(id).toString("base64url");
}

/** Converts a gallery. Faces can be enrolled in it only by the service's model. */
export function messageFromGallery(
  gallery: Gallery,
  serviceModel: string,
): MessageInitShape<typeof GallerySchema> {
  const {
    id,
    alias = "",
    displayName,
    model,
    maxDistance,
    people,
    faces,
    revision,
    createdAt,
    expiresAt,
  } = gallery;
  return {
    galleryId: id,
    alias,
    displayName,
    model,
    ...(maxDistance !== undefined && { maxDistance: Math.fround(maxDistance) }),
    peopleCount: people,
    faceCount: faces,
    revision: BigInt(revision),
    createTime: timestampFromDate(createdAt),
    ...expireTimeOf(expiresAt),
    readOnly: model !== serviceModel,
  };
}

/** Converts a person with the ids of its faces. */
export function messageFromPerson({
  id,
  displayName,
  createdAt,
  expiresAt,
  faces,
}: Person): MessageInitShape<typeof PersonSchema> {
  return {
    personId: id,
    displayName,
    faces: faces.map((face) => ({ faceId: face.id, createTime: timestampFromDate(face.createdAt) })),
    createTime: timestampFromDate(createdAt),
    ...expireTimeOf(expiresAt),
  };
}

/** Converts a face with its template and what is known of the person. */
export function messageFromExportedFace(
  face: ExportedFace,
  model: string,
): MessageInitShape<typeof ExportGalleryResponseSchema> {
  const { personId, displayName, expiresAt } = face;
  return { ...messageFromTemplate(face, model), personId, displayName, ...expireTimeOf(expiresAt) };
}

/** Converts a face with its template. */
export function messageFromTemplate({ faceId, embedding, createdAt }: ExportedFace, model: string) {
  return {
    faceId,
    embedding: { values: [...embedding], model },
    createTime: timestampFromDate(createdAt),
  };
}

/** The field `expire_time`, which is missing if there is no time. */
export function expireTimeOf(expiresAt: Date | undefined) {
  return expiresAt && { expireTime: timestampFromDate(expiresAt) };
}
