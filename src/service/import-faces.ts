import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { ImportFacesRequest, ImportFacesResponseSchema } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { MAX_ENROLMENT_BATCH, type NewFace } from "../galleries/gallery-store.ts";
import { auditChange, faceIdFrom, type GalleryServiceOptions, orUnavailable } from "./gallery-call.ts";
import { requireId, requireName } from "./gallery-messages.ts";
import { missingError, requireValid, vectorFrom } from "./request-checks.ts";
import { callerFrom } from "./request-record.ts";

/** Enrols faces that were exported, in batches. */
export async function importFaces(
  requests: AsyncIterable<ImportFacesRequest>,
  context: HandlerContext,
  options: GalleryServiceOptions,
): Promise<MessageInitShape<typeof ImportFacesResponseSchema>> {
  const { galleries } = options;
  const model = options.analyzer.identity;
  const caller = callerFrom(context.values);
  let galleryId = "";
  /** The key of the gallery that got the first batch. A new gallery with the same id must not get the others. */
  let galleryKey: string | undefined;
  let revision = 0;
  let faceCount = 0;
  const enrol = async (faces: readonly NewFace[]) => {
    if (faces.length === 0) return;
    const gallery = await orUnavailable(() =>
      galleries.enrolFaces(caller.userId, galleryId, model, faces, caller, galleryKey),
    );
    ({ revision, key: galleryKey } = gallery);
    faceCount += faces.length;
    auditChange(options, context, `galleries/${galleryId}`, faces.length);
  };
  let batch: NewFace[] = [];
  for await (const request of requests) {
    if (galleryId === "") requireId("gallery_id", request.galleryId);
    galleryId ||= request.galleryId;
    const isSame = request.galleryId === "" || request.galleryId === galleryId;
    requireValid("gallery_id", isSame, "must be the same for all faces");
    batch.push(faceToImport(request, model));
    if (batch.length < MAX_ENROLMENT_BATCH) continue;
    await enrol(batch);
    batch = [];
  }
  await enrol(batch);
  return { faceCount, revision: BigInt(revision) };
}

function faceToImport(request: ImportFacesRequest, model: string): NewFace {
  const { personId, displayName, embedding } = request;
  requireId("person_id", personId);
  if (request.faceId !== "") requireId("face_id", request.faceId);
  requireName(displayName);
  if (!embedding) throw missingError("embedding");
  const vector = vectorFrom("embedding", embedding, model);
  const faceId = request.faceId || faceIdFrom(vector);
  return { personId, faceId, vector, displayName: displayName || undefined };
}
