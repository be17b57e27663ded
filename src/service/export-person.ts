import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import type { ExportPersonRequest, ExportPersonResponseSchema } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { type Gallery, GalleryError, MAX_FACES_PER_PERSON } from "../galleries/gallery-store.ts";
import { addToAudit, startAudited } from "./audit.ts";
import { type GalleryServiceOptions, orUnavailable } from "./gallery-call.ts";
import { ALL_GALLERIES, expireTimeOf, messageFromTemplate, requireId } from "./gallery-messages.ts";
import { admittedRecordFrom } from "./request-record.ts";

/** Galleries that are read at once. */
const PAGE_SIZE = 100;

/** Returns everything that is stored about a person, one message for each gallery. */
export async function* exportPerson(
  { galleryId, personId }: ExportPersonRequest,
  context: HandlerContext,
  { galleries }: Pick<GalleryServiceOptions, "galleries">,
): AsyncGenerator<MessageInitShape<typeof ExportPersonResponseSchema>> {
  requireId("gallery_id", galleryId);
  requireId("person_id", personId);
  const record = admittedRecordFrom(context.values);
  const { userId } = record.caller;
  await startAudited(context.values, { gallery: galleryId, people: [personId] });

  const readFrom = async ({ id, key, displayName, model }: Gallery) => {
    const person = await galleries.getPerson(userId, id, personId);
    const faces = await galleries.readFaces(key, {
      after: { personId, faceId: "" },
      size: MAX_FACES_PER_PERSON,
    });
    return {
      galleryId: id,
      galleryDisplayName: displayName,
      personId,
      displayName: person.displayName,
      createTime: timestampFromDate(person.createdAt),
      ...expireTimeOf(person.expiresAt),
      faces: faces
        .filter((face) => face.personId === personId)
        .map((face) => messageFromTemplate(face, model)),
    };
  };

  async function* findGalleries(): AsyncGenerator<Gallery> {
    if (galleryId !== ALL_GALLERIES) {
      yield await orUnavailable(() => galleries.getGallery(userId, galleryId));
      return;
    }
    let after: string | undefined;
    for (;;) {
      const page = await orUnavailable(() =>
        galleries.listGalleries(userId, { after, size: PAGE_SIZE }, personId),
      );
      yield* page;
      if (page.length < PAGE_SIZE) return;
      after = page.at(-1)!.id;
    }
  }

  let faces = 0;
  let isFound = false;
  for await (const gallery of findGalleries()) {
    const found = await orUnavailable(() => readFrom(gallery)).catch((error: unknown) => {
      // The person was deleted from it meanwhile.
      const isGone = galleryId === ALL_GALLERIES && error instanceof GalleryError;
      if (!isGone) throw error;
    });
    if (!found) continue;
    isFound = true;
    record.hasEffect = true;
    faces += found.faces.length;
    addToAudit(context.values, { faces });
    yield found;
  }
  if (!isFound) throw new GalleryError("personNotFound", `There is no person ${personId} in any gallery.`);
}
