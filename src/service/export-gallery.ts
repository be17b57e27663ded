import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { ExportGalleryRequest, ExportGalleryResponseSchema } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { GalleryError } from "../galleries/gallery-store.ts";
import { addToAudit, startAudited } from "./audit.ts";
import { type GalleryServiceOptions, orUnavailable } from "./gallery-call.ts";
import { messageFromExportedFace, requireId } from "./gallery-messages.ts";
import { admittedRecordFrom } from "./request-record.ts";

/** Faces that are read at once. No connection to the database is held while the client reads them. */
const PAGE_SIZE = 200;

/** Returns all faces of a gallery. Throws GalleryError if the gallery is deleted meanwhile. */
export async function* exportGallery(
  { galleryId }: ExportGalleryRequest,
  context: HandlerContext,
  { galleries }: Pick<GalleryServiceOptions, "galleries">,
): AsyncGenerator<MessageInitShape<typeof ExportGalleryResponseSchema>> {
  requireId("gallery_id", galleryId);
  const record = admittedRecordFrom(context.values);
  const { userId } = record.caller;
  const findGallery = () => orUnavailable(() => galleries.getGallery(userId, galleryId));
  const { key, model } = await findGallery();
  await startAudited(context.values, { model });
  let faces = 0;
  let page = await orUnavailable(() => galleries.readFaces(key, { size: PAGE_SIZE }));
  while (page.length > 0) {
    record.hasEffect = true;
    faces += page.length;
    addToAudit(context.values, { faces });
    for (const face of page) yield messageFromExportedFace(face, model);
    // A client that reads fast takes all parts at once, so that nothing else would run until the last one.
    await yieldToEventLoop();
    const after = page.at(-1);
    page = await orUnavailable(() => galleries.readFaces(key, { after, size: PAGE_SIZE }));
  }
  // The export of a gallery that is being deleted would be taken for a whole one.
  const { key: keyAtEnd } = await findGallery();
  if (keyAtEnd !== key) throw new GalleryError("galleryNotFound", `The gallery ${galleryId} was deleted.`);
}
