import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { ImportFacesRequest, ImportFacesResponseSchema } from "../../gen/ts/visage/v1/gallery_pb.ts";
import {
  GalleryError,
  type GalleryLimits,
  MAX_ENROLMENT_BATCH,
  type NewFace,
} from "../galleries/gallery-store.ts";
import { addToAudit, startAudited } from "./audit.ts";
import { expiryFrom } from "./expiration.ts";
import { faceIdFrom, type GalleryServiceOptions, storeFaces } from "./gallery-call.ts";
import { requireId, requireName } from "./gallery-messages.ts";
import { changeError, LAST_LINE, withMessageNumber } from "./message-number.ts";
import { embeddingFrom, missingError, requireValid } from "./request-checks.ts";
import { callerFrom } from "./request-record.ts";
import { ServiceError, serviceErrorFrom } from "./service-error.ts";

/**
 * Enrols faces that were exported, in batches. An error names the message at fault and says how many faces were stored
 * before it: batches that were enrolled stay.
 */
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
    const people = [...new Set(faces.map(({ personId }) => personId))];
    await startAudited(context.values, { people, faces: faces.length, model });
    try {
      const gallery = await storeFaces(context, () =>
        galleries.enrolFaces(caller.userId, galleryId, model, faces, caller.plan, galleryKey),
      );
      ({ revision, key: galleryKey } = gallery);
      faceCount += faces.length;
    } finally {
      addToAudit(context.values, { people: undefined, faces: faceCount });
    }
  };
  let batch: NewFace[] = [];
  try {
    for await (const request of requests) {
      if (galleryId === "") requireId("gallery_id", request.galleryId);
      galleryId ||= request.galleryId;
      const isSame = request.galleryId === "" || request.galleryId === galleryId;
      requireValid("gallery_id", isSame, "must be the same for all faces");
      batch.push(faceToImport(request, model, caller.plan));
      if (batch.length < MAX_ENROLMENT_BATCH) continue;
      await enrol(batch);
      batch = [];
    }
    await enrol(batch);
    if (faceCount === 0) await startAudited(context.values, { faces: 0 });
  } catch (fault) {
    throw importError(fault, context, faceCount, batch.length);
  }
  return { faceCount, revision: BigInt(revision) };
}

/** Adds to an error which message caused it and how many faces are stored. Those that wait came before it, too. */
function importError(fault: unknown, { values }: HandlerContext, stored: number, waiting: number): unknown {
  // Errors of the gallery are about a whole batch.
  if (fault instanceof GalleryError) return withStoredFaces(serviceErrorFrom(fault), stored);
  if (!(fault instanceof ServiceError)) return fault;
  const lastLine = values.get(LAST_LINE);
  const error = lastLine
    ? withMessageNumber(fault, "line", lastLine())
    : withMessageNumber(fault, "message", stored + waiting + 1);
  return withStoredFaces(error, stored);
}

function withStoredFaces(error: ServiceError, stored: number): ServiceError {
  if (stored === 0) return error;
  const text = `${error.message} The first ${stored} faces are stored.`;
  return changeError(error, text, { stored_faces: String(stored) });
}

function faceToImport(request: ImportFacesRequest, model: string, limits: GalleryLimits): NewFace {
  const { personId, displayName, embedding } = request;
  requireId("person_id", personId);
  if (request.faceId !== "") requireId("face_id", request.faceId);
  requireName(displayName);
  if (!embedding) throw missingError("embedding");
  const template = embeddingFrom("embedding", embedding, model);
  const faceId = request.faceId || faceIdFrom(template);
  const expiresAt = expiryFrom(request.expiration, { limits, mayBePast: true });
  return { personId, faceId, embedding: template, displayName: displayName || undefined, expiresAt };
}
