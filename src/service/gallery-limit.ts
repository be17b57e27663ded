// Keys that can be used for some galleries only.
import type { DescMethod, Message } from "@bufbuild/protobuf";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { type Gallery, GalleryError, type GalleryStore, type Page } from "../galleries/gallery-store.ts";
import { galleryNotFound } from "../galleries/sql-gallery-changes.ts";
import { orUnavailable } from "./gallery-call.ts";
import { requireId } from "./gallery-messages.ts";
import type { Caller } from "./request-record.ts";
import { ServiceError } from "./service-error.ts";

type Galleries = Pick<GalleryStore, "getGallery">;
type LimitedCaller = Pick<Caller, "userId" | "rights">;

/** The fields of requests that name galleries. */
interface GalleryFields {
  galleryId?: string;
  successorId?: string;
  alias?: string;
}

/**
 * Throws unless the caller's key can be used for all galleries that a request names. A gallery that is named in another
 * way than by the key, such as by its alias, is found first, and its id takes the place of the name: an alias that moves
 * meanwhile leads to no other gallery. Other galleries do not exist for the key.
 */
export async function limitToGalleries(
  request: Message & GalleryFields,
  method: DescMethod,
  { userId, rights: { galleryIds: permitted } }: LimitedCaller,
  galleries: Galleries,
): Promise<void> {
  if (!permitted || method.parent !== GalleryService) return;
  if (request.alias) requireName(request.alias, permitted);
  if (method === GalleryService.method.createGallery) return requireName(request.galleryId!, permitted);
  for (const field of ["galleryId", "successorId"] as const) {
    const name = request[field];
    if (!name || permitted.includes(name)) continue;
    requireId(field === "galleryId" ? "gallery_id" : "successor_id", name);
    const gallery = await orUnavailable(() => galleries.getGallery(userId, name));
    if (!isPermitted(gallery, permitted)) throw galleryNotFound(name);
    request[field] = gallery.id;
  }
}

/** Lists a page of the galleries for which a key can be used. */
export async function listPermittedGalleries(
  galleries: Galleries,
  userId: string,
  permitted: readonly string[],
  { after = "", size }: Page,
): Promise<Gallery[]> {
  const found = new Map<string, Gallery>();
  for (const name of permitted) {
    const gallery = await galleries.getGallery(userId, name).catch(undefinedIfMissing);
    if (gallery && gallery.id > after) found.set(gallery.id, gallery);
  }
  return [...found.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1)).slice(0, size);
}

function undefinedIfMissing(fault: unknown): undefined {
  if (!(fault instanceof GalleryError && fault.kind === "galleryNotFound")) throw fault;
}

function isPermitted({ id, alias }: Gallery, permitted: readonly string[]): boolean {
  return permitted.includes(id) || (alias !== undefined && permitted.includes(alias));
}

/** A name that a gallery is given must be one of the key's, because another gallery may have it. */
function requireName(name: string, permitted: readonly string[]): void {
  if (permitted.includes(name)) return;
  const text = "The key of the request is limited to galleries of other names.";
  throw new ServiceError("scopeMissing", text, { metadata: { gallery: name } });
}
