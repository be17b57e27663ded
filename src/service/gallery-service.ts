import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { FaceSource } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type {
  EnrolFaceRequest,
  GalleryService,
  IdentifyFacesRequest,
  IdentifyFacesResponseSchema,
  ImportFacesRequest,
} from "../../gen/ts/visage/v1/gallery_pb.ts";
import type { Box, Vector } from "../core/index.ts";
import type { SearchResult } from "../galleries/gallery-search.ts";
import {
  GalleryError,
  type GalleryStore,
  MAX_ENROLMENT_BATCH,
  type NewFace,
} from "../galleries/gallery-store.ts";
import type { GallerySearcher } from "../galleries/search-process.ts";
import { type AuditEntry, auditEntryFrom } from "./audit.ts";
import { FaceCall, type FaceCallOptions, optionalBox, scopeFrom } from "./face-call.ts";
import {
  messageFromExportedFace,
  messageFromGallery,
  messageFromPerson,
  nextToken,
  pageFrom,
  requireDistance,
  requireId,
  requireName,
} from "./gallery-messages.ts";
import { requireQuality } from "./quality.ts";
import { missingError, requireValid, vectorFrom } from "./request-checks.ts";
import { callerFrom } from "./request-record.ts";
import { ServiceError } from "./service-error.ts";
import { messageFromBox } from "./typed-messages.ts";

/** What the operations on galleries need. */
export interface GalleryServiceOptions extends FaceCallOptions {
  readonly galleries: GalleryStore;
  readonly searcher: GallerySearcher;
  readonly audit: (entry: AuditEntry) => void;
}

const MAX_RESULTS = 100;
/** Faces that are read at once for an export. */
const EXPORT_PAGE = 500;
/** Characters of a face id that is made from the template. */
const FACE_ID_LENGTH = 16;

/** Creates the operations on galleries. */
export function createGalleryService(options: GalleryServiceOptions): ServiceImpl<typeof GalleryService> {
  const { galleries, analyzer, audit } = options;
  const model = analyzer.identity;

  const auditChange = (context: HandlerContext, resource: string, count?: number) =>
    audit(auditEntryFrom(context, resource, count));

  return {
    async createGallery(request, context) {
      const { galleryId: id, displayName, maxDistance } = request;
      requireId("gallery_id", id);
      requireName(displayName);
      requireDistance(maxDistance);
      const caller = callerFrom(context.values);
      const created = await orUnavailable(() =>
        galleries.createGallery(caller.userId, { id, displayName, model, maxDistance }, caller),
      );
      auditChange(context, `galleries/${id}`);
      return { gallery: messageFromGallery(created) };
    },

    async getGallery({ galleryId }, context) {
      requireId("gallery_id", galleryId);
      const { userId } = callerFrom(context.values);
      const gallery = await orUnavailable(() => galleries.getGallery(userId, galleryId));
      return { gallery: messageFromGallery(gallery) };
    },

    async listGalleries({ pageSize, pageToken }, context) {
      const { userId } = callerFrom(context.values);
      const page = pageFrom(pageSize, pageToken);
      const found = await orUnavailable(() => galleries.listGalleries(userId, page));
      return { galleries: found.map(messageFromGallery), nextPageToken: nextToken(found, page.size) };
    },

    async updateGallery({ galleryId, displayName, maxDistance }, context) {
      requireId("gallery_id", galleryId);
      requireName(displayName ?? "");
      if (maxDistance !== 0) requireDistance(maxDistance);
      const { userId } = callerFrom(context.values);
      const changes = {
        ...(displayName !== undefined && { displayName }),
        ...(maxDistance !== undefined && { maxDistance: maxDistance || undefined }),
      };
      const gallery = await orUnavailable(() => galleries.updateGallery(userId, galleryId, changes));
      auditChange(context, `galleries/${galleryId}`);
      return { gallery: messageFromGallery(gallery) };
    },

    async deleteGallery({ galleryId }, context) {
      requireId("gallery_id", galleryId);
      const { userId } = callerFrom(context.values);
      await orUnavailable(() => galleries.deleteGallery(userId, galleryId));
      auditChange(context, `galleries/${galleryId}`);
      return {};
    },

    async enrolFace(request, context) {
      const { galleryId, personId, displayName } = request;
      requireId("gallery_id", galleryId);
      requireId("person_id", personId);
      if (request.faceId !== "") requireId("face_id", request.faceId);
      requireName(displayName ?? "");
      const caller = callerFrom(context.values);
      // Fails early, before the image is analysed.
      await orUnavailable(() => galleries.getGallery(caller.userId, galleryId));
      const { vector, box } = await faceToEnrol(request, new FaceCall(options, scopeFrom(context)), model);
      const faceId = request.faceId || faceIdFrom(vector);
      const face = { personId, faceId, vector, displayName };
      const { revision } = await orUnavailable(() =>
        galleries.enrolFaces(caller.userId, galleryId, model, [face], caller),
      );
      auditChange(context, `galleries/${galleryId}/people/${personId}/faces/${faceId}`, 1);
      return { faceId, ...(box && { box: messageFromBox(box) }), revision: BigInt(revision) };
    },

    async getPerson({ galleryId, personId }, context) {
      requireId("gallery_id", galleryId);
      requireId("person_id", personId);
      const { userId } = callerFrom(context.values);
      const person = await orUnavailable(() => galleries.getPerson(userId, galleryId, personId));
      return { person: messageFromPerson(person) };
    },

    async listPeople({ galleryId, pageSize, pageToken }, context) {
      requireId("gallery_id", galleryId);
      const { userId } = callerFrom(context.values);
      const page = pageFrom(pageSize, pageToken);
      const found = await orUnavailable(() => galleries.listPeople(userId, galleryId, page));
      return { people: found.map(messageFromPerson), nextPageToken: nextToken(found, page.size) };
    },

    async updatePerson({ galleryId, personId, displayName }, context) {
      requireId("gallery_id", galleryId);
      requireId("person_id", personId);
      requireName(displayName);
      const { userId } = callerFrom(context.values);
      const person = await orUnavailable(() =>
        galleries.renamePerson(userId, galleryId, personId, displayName),
      );
      auditChange(context, `galleries/${galleryId}/people/${personId}`);
      return { person: messageFromPerson(person) };
    },

    async deletePerson({ galleryId, personId }, context) {
      requireId("gallery_id", galleryId);
      requireId("person_id", personId);
      const { userId } = callerFrom(context.values);
      await orUnavailable(() => galleries.deletePerson(userId, galleryId, personId));
      auditChange(context, `galleries/${galleryId}/people/${personId}`);
      return {};
    },

    async deleteFace({ galleryId, personId, faceId }, context) {
      requireId("gallery_id", galleryId);
      requireId("person_id", personId);
      requireId("face_id", faceId);
      const { userId } = callerFrom(context.values);
      await orUnavailable(() => galleries.deleteFace(userId, galleryId, personId, faceId));
      auditChange(context, `galleries/${galleryId}/people/${personId}/faces/${faceId}`, -1);
      return {};
    },

    identifyFaces: (request, context) => identifyFaces(request, context, options),

    async *exportGallery({ galleryId }, context) {
      requireId("gallery_id", galleryId);
      const { userId } = callerFrom(context.values);
      const gallery = await orUnavailable(() => galleries.getGallery(userId, galleryId));
      let page = await orUnavailable(() => galleries.readFaces(gallery.key, { size: EXPORT_PAGE }));
      while (page.length > 0) {
        yield* page.map((face) => messageFromExportedFace(face, gallery.model));
        const after = page.at(-1);
        page = await orUnavailable(() => galleries.readFaces(gallery.key, { after, size: EXPORT_PAGE }));
      }
    },

    async importFaces(requests, context) {
      const caller = callerFrom(context.values);
      let galleryId = "";
      let revision = 0;
      let faceCount = 0;
      const enrol = async (faces: readonly NewFace[]) => {
        if (faces.length === 0) return;
        const gallery = await orUnavailable(() =>
          galleries.enrolFaces(caller.userId, galleryId, model, faces, caller),
        );
        ({ revision } = gallery);
        faceCount += faces.length;
        auditChange(context, `galleries/${galleryId}`, faces.length);
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
    },
  };
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

async function identifyFaces(
  { galleryId, source, maxResults, maxDistance }: IdentifyFacesRequest,
  context: HandlerContext,
  options: GalleryServiceOptions,
): Promise<MessageInitShape<typeof IdentifyFacesResponseSchema>> {
  requireId("gallery_id", galleryId);
  requireValid("max_results", maxResults >= 0 && maxResults <= MAX_RESULTS, `must be 0 to ${MAX_RESULTS}`);
  requireDistance(maxDistance);
  const { userId } = callerFrom(context.values);
  const model = options.analyzer.identity;
  const faces = await facesToIdentify(source, new FaceCall(options, scopeFrom(context)), model);
  const result = await orUnavailable(() =>
    options.searcher.search(
      {
        userId,
        galleryId,
        vectors: faces.map(({ vector }) => vector),
        model,
        maxResults: maxResults || 1,
        maxDistance,
      },
      context.signal,
    ),
  );
  return responseFromResult(result, faces);
}

function responseFromResult(
  { gallery, threshold, matches, isStale }: SearchResult,
  faces: readonly SourceFace[],
): MessageInitShape<typeof IdentifyFacesResponseSchema> {
  const { distance, falsePositiveRate, isForCandidates } = threshold;
  return {
    faces: faces.map(({ box }, i) => ({
      ...(box && { box: messageFromBox(box) }),
      matches: matches[i]!.map((match) => ({ ...match, distance: Math.fround(match.distance) })),
    })),
    threshold: Math.fround(distance),
    ...(falsePositiveRate !== undefined && { falsePositiveRate: Math.fround(falsePositiveRate) }),
    candidatesOnly: isForCandidates,
    model: gallery.model,
    revision: BigInt(gallery.revision),
    stale: isStale,
  };
}

/** A face of an image, or one that was given as an embedding. */
interface SourceFace {
  readonly box?: Box;
  readonly vector: Vector;
}

async function faceToEnrol(
  { source: from, skipQualityCheck }: EnrolFaceRequest,
  call: FaceCall,
  model: string,
): Promise<SourceFace> {
  const { source, box } = requireSource(from);
  if (source.case === "embedding") return { vector: vectorFrom("source.embedding", source.value, model) };
  const face = await call.embed("source", source.value, { boxes: optionalBox(box) });
  if (!skipQualityCheck) requireQuality(face, "source");
  return face;
}

async function facesToIdentify(
  from: FaceSource | undefined,
  call: FaceCall,
  model: string,
): Promise<SourceFace[]> {
  const { source, box } = requireSource(from);
  if (source.case === "embedding") return [{ vector: vectorFrom("source.embedding", source.value, model) }];
  const options = { boxes: optionalBox(box), attributes: false, vectors: true };
  const { faces } = await call.analyze("source", source.value, options);
  return faces.map((face) => ({ box: face.box, vector: face.vector! }));
}

function requireSource(from: FaceSource | undefined): FaceSource {
  if (from?.source.case === undefined) throw missingError("source");
  const isBoxAlone = from.source.case === "embedding" && from.box !== undefined;
  requireValid("source.box", !isBoxAlone, "needs an image");
  return from;
}

/** The same photo has the same template, so enrolling it again replaces the face. */
function faceIdFrom(vector: Vector): string {
  const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  return createHash("sha256").update(bytes).digest("hex").slice(0, FACE_ID_LENGTH);
}

/** Runs work on the store. An error that is not a GalleryError means that the store cannot be reached. */
async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GalleryError || error instanceof DOMException) throw error;
    throw new ServiceError("galleriesUnavailable", undefined, { cause: error });
  }
}
