import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { EnrolFaceRequest, GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { readOnlyError } from "../galleries/gallery-store.ts";
import { addToAudit, startAudited } from "./audit.ts";
import { expiryFrom } from "./expiration.ts";
import { exportGallery } from "./export-gallery.ts";
import { exportPerson } from "./export-person.ts";
import { FaceCall, optionalBox, scopeFrom } from "./face-call.ts";
import {
  faceIdFrom,
  type GalleryServiceOptions,
  orUnavailable,
  type ProbeFace,
  requireSource,
  storeFaces,
  UNESTIMATED_POPULATIONS,
} from "./gallery-call.ts";
import { listPermittedGalleries } from "./gallery-limit.ts";
import {
  ALL_GALLERIES,
  messageFromGallery,
  messageFromPerson,
  pageFrom,
  requireDistance,
  requireGalleryId,
  requireId,
  requireName,
  tokenAfter,
} from "./gallery-messages.ts";
import { checkPerson, messageFromCheck, requireSamePerson } from "./gallery-person-check.ts";
import { identifyFaces } from "./identify-faces.ts";
import { importFaces } from "./import-faces.ts";
import { requireUsable } from "./quality.ts";
import { embeddingFrom } from "./request-checks.ts";
import { callerFrom } from "./request-record.ts";
import { messageFromBox, messagesFromQuality } from "./typed-messages.ts";

/** Creates the operations on galleries. */
export function createGalleryService(options: GalleryServiceOptions): ServiceImpl<typeof GalleryService> {
  const { galleries } = options;
  const model = options.analyzer.identity;

  return {
    async createGallery(request, context) {
      const { galleryId: id, displayName, maxDistance } = request;
      requireGalleryId("gallery_id", id);
      requireName(displayName);
      requireDistance(maxDistance);
      const expiresAt = expiryFrom(request.expiration) ?? undefined;
      const caller = callerFrom(context.values);
      await startAudited(context.values, { gallery: id, model });
      const created = await orUnavailable(() =>
        galleries.createGallery(
          caller.userId,
          { id, displayName, model, maxDistance, expiresAt },
          caller.plan,
        ),
      );
      return { gallery: messageFromGallery(created, model) };
    },

    async getGallery({ galleryId }, context) {
      requireId("gallery_id", galleryId);
      const { userId } = callerFrom(context.values);
      const gallery = await orUnavailable(() => galleries.getGallery(userId, galleryId));
      return { gallery: messageFromGallery(gallery, model) };
    },

    async listGalleries({ pageSize, pageToken }, context) {
      const {
        userId,
        rights: { galleryIds: permitted },
      } = callerFrom(context.values);
      const page = pageFrom(pageSize, pageToken);
      const found = await orUnavailable(() =>
        permitted
          ? listPermittedGalleries(galleries, userId, permitted, page)
          : galleries.listGalleries(userId, page),
      );
      const isLast = found.length < page.size;
      return {
        galleries: found.map((gallery) => messageFromGallery(gallery, model)),
        nextPageToken: isLast ? "" : tokenAfter(found),
      };
    },

    async updateGallery({ galleryId, displayName, maxDistance, alias, expiration }, context) {
      requireId("gallery_id", galleryId);
      requireName(displayName ?? "");
      if (maxDistance !== 0) requireDistance(maxDistance);
      if (alias) requireGalleryId("alias", alias);
      const expiresAt = expiryFrom(expiration);
      const { userId } = callerFrom(context.values);
      const changes = {
        ...(displayName !== undefined && { displayName }),
        ...(maxDistance !== undefined && { maxDistance: maxDistance || undefined }),
        ...(alias !== undefined && { alias: alias || undefined }),
        ...(expiresAt !== undefined && { expiresAt: expiresAt ?? undefined }),
      };
      await startAudited(context.values, { gallery: galleryId });
      const gallery = await orUnavailable(() => galleries.updateGallery(userId, galleryId, changes));
      await galleries.waitForErasure();
      return { gallery: messageFromGallery(gallery, model) };
    },

    async deleteGallery({ galleryId }, context) {
      requireId("gallery_id", galleryId);
      const { userId } = callerFrom(context.values);
      await startAudited(context.values, { gallery: galleryId });
      const faces = await orUnavailable(() => galleries.deleteGallery(userId, galleryId));
      addToAudit(context.values, { faces });
      await galleries.waitForErasure();
      return {};
    },

    async replaceGallery({ galleryId, successorId, revision }, context) {
      requireId("gallery_id", galleryId);
      requireId("successor_id", successorId);
      const { userId } = callerFrom(context.values);
      const expected = revision === undefined ? undefined : Number(revision);
      await startAudited(context.values, { gallery: galleryId, successor: successorId });
      const { gallery, removedFaces } = await orUnavailable(() =>
        galleries.replaceGallery(userId, galleryId, successorId, expected),
      );
      addToAudit(context.values, { faces: removedFaces });
      await galleries.waitForErasure();
      return { gallery: messageFromGallery(gallery, model) };
    },

    async enrolFace(request, context) {
      const { galleryId, personId, displayName } = request;
      requireId("gallery_id", galleryId);
      requireId("person_id", personId);
      if (request.faceId !== "") requireId("face_id", request.faceId);
      requireName(displayName ?? "");
      const caller = callerFrom(context.values);
      const expiresAt = expiryFrom(request.expiration, { limits: caller.plan });
      addToAudit(context.values, { gallery: galleryId, people: [personId] });
      // Fails early, before the image is analysed.
      const gallery = await orUnavailable(() => galleries.getGallery(caller.userId, galleryId));
      if (gallery.model !== model) throw readOnlyError(gallery, model);
      const call = new FaceCall(options, scopeFrom(context));
      const { embedding, box, populations, measured } = await faceToEnrol(request, call, model);
      const faceId = request.faceId || faceIdFrom(embedding);
      const face = { personId, faceId, embedding, displayName, expiresAt };
      const check = request.checkPerson
        ? await checkPerson({ ...face, populations }, gallery, context, options)
        : undefined;
      // The check is a search, so the line names whom it has found.
      const people = [personId, ...(check?.other ? [check.other.personId] : [])];
      await startAudited(context.values, { people, face: faceId, model });
      if (check) requireSamePerson(check, context, options);
      const { revision } = await storeFaces(context, () =>
        galleries.enrolFaces(caller.userId, galleryId, model, [face], caller.plan),
      );
      addToAudit(context.values, { faces: 1 });
      return {
        ...(check && messageFromCheck(check)),
        ...messagesFromQuality(measured),
        faceId,
        ...(box && { box: messageFromBox(box) }),
        revision: BigInt(revision),
      };
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
      const { people, isLast } = await orUnavailable(() => galleries.listPeople(userId, galleryId, page));
      return { people: people.map(messageFromPerson), nextPageToken: isLast ? "" : tokenAfter(people) };
    },

    async updatePerson({ galleryId, personId, displayName, expiration }, context) {
      requireId("gallery_id", galleryId);
      requireId("person_id", personId);
      requireName(displayName ?? "");
      const { userId, plan } = callerFrom(context.values);
      const expiresAt = expiryFrom(expiration, { limits: plan });
      const changes = {
        ...(displayName !== undefined && { displayName }),
        ...(expiresAt !== undefined && { expiresAt: expiresAt ?? undefined }),
      };
      await startAudited(context.values, { gallery: galleryId, people: [personId] });
      const person = await orUnavailable(() => galleries.updatePerson(userId, galleryId, personId, changes));
      await galleries.waitForErasure();
      return { person: messageFromPerson(person) };
    },

    async deletePerson({ galleryId, personId }, context) {
      requireId("gallery_id", galleryId);
      requireId("person_id", personId);
      const { userId } = callerFrom(context.values);
      const scope = galleryId === ALL_GALLERIES ? undefined : galleryId;
      await startAudited(context.values, { gallery: galleryId, people: [personId] });
      const deletions = await orUnavailable(() => galleries.deletePerson(userId, scope, personId));
      addToAudit(context.values, {
        gallery: deletions.map(({ galleryId }) => galleryId).join(","),
        faces: deletions.reduce((sum, { faces }) => sum + faces, 0),
      });
      return {
        personId,
        deletions: deletions.map(({ galleryId, faces }) => ({ galleryId, faceCount: faces })),
        deleteTime: timestampFromDate(new Date()),
        requestId: context.requestHeader.get("x-request-id") ?? "",
        erasureFinished: await galleries.waitForErasure(),
      };
    },

    exportPerson: (request, context) => exportPerson(request, context, options),

    async deleteFace({ galleryId, personId, faceId }, context) {
      requireId("gallery_id", galleryId);
      requireId("person_id", personId);
      requireId("face_id", faceId);
      const { userId } = callerFrom(context.values);
      await startAudited(context.values, { gallery: galleryId, people: [personId], face: faceId });
      await orUnavailable(() => galleries.deleteFace(userId, galleryId, personId, faceId));
      addToAudit(context.values, { faces: 1 });
      await galleries.waitForErasure();
      return {};
    },

    identifyFaces: (request, context) => identifyFaces(request, context, options),

    exportGallery: (request, context) => exportGallery(request, context, options),

    importFaces: (requests, context) => importFaces(requests, context, options),
  };
}

async function faceToEnrol(
  { source: from, skipQualityCheck, checkPerson }: EnrolFaceRequest,
  call: FaceCall,
  model: string,
): Promise<ProbeFace> {
  const { source, box } = requireSource(from);
  if (source.case === "embedding")
    return {
      embedding: embeddingFrom("source.embedding", source.value, model),
      populations: UNESTIMATED_POPULATIONS,
    };
  const face = await call.embed("source", source.value, {
    boxes: optionalBox(box),
    quality: !skipQualityCheck,
    populations: checkPerson && call.isPermitted("attributes"),
  });
  if (!skipQualityCheck) requireUsable(face, "source");
  return { ...face, populations: face.populations ?? UNESTIMATED_POPULATIONS, measured: face };
}
