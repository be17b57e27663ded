// Conversion of the messages of visage.v1.GalleryService to the types of this client, and back.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  DeletePersonResponse,
  EnrolFaceRequest,
  EnrolFaceResponse,
  ExportGalleryResponse,
  ExportPersonResponse,
  Gallery as GalleryMessage,
  IdentifyFacesResponse,
  ImportFacesRequestSchema,
  PersonMatch as PersonMatchMessage,
  Person as PersonMessage,
} from "../../gen/ts/visage/v1/gallery_pb.ts";
import {
  boxFromMessage,
  embeddingFromTemplate,
  measuresFromMessage,
  populationFromMessage,
  templateFromMessage,
} from "./analysis.ts";
import type {
  Enrolment,
  Gallery,
  GalleryFace,
  Identification,
  NewGalleryFace,
  Person,
  PersonMatch,
} from "./gallery-types.ts";
import type { DeletionReceipt, Expiration, ExportedPerson } from "./person-types.ts";

export function galleryFromMessage(message: GalleryMessage): Gallery {
  const { galleryId, displayName, model, maxDistance, peopleCount, faceCount, alias, readOnly } = message;
  return {
    ...{ galleryId, displayName, model, maxDistance, peopleCount, faceCount, alias, readOnly },
    revision: Number(message.revision),
    createTime: dateFrom(message.createTime),
    expireTime: optionalDateFrom(message.expireTime),
  };
}

export function personFromMessage(message: PersonMessage): Person {
  const { personId, displayName, faces } = message;
  return {
    personId,
    displayName,
    faces: faces.map((face) => ({ faceId: face.faceId, createTime: dateFrom(face.createTime) })),
    createTime: dateFrom(message.createTime),
    expireTime: optionalDateFrom(message.expireTime),
  };
}

export function receiptFromMessage(message: DeletePersonResponse): DeletionReceipt {
  const { personId, deletions, deleteTime, requestId, erasureFinished } = message;
  return {
    personId,
    deletions: deletions.map(({ galleryId, faceCount }) => ({ galleryId, faceCount })),
    deleteTime: dateFrom(deleteTime),
    requestId,
    erasureFinished,
  };
}

export function exportedPersonFromMessage(message: ExportPersonResponse): ExportedPerson {
  const { galleryId, galleryDisplayName, personId, displayName, faces } = message;
  return {
    ...{ galleryId, galleryDisplayName, personId, displayName },
    createTime: dateFrom(message.createTime),
    expireTime: optionalDateFrom(message.expireTime),
    faces: faces.map(({ faceId, embedding, createTime }) => ({
      faceId,
      template: templateFromMessage(embedding!),
      createTime: dateFrom(createTime),
    })),
  };
}

/** Makes the oneof of a request. */
export function expirationMessage({
  expireTime,
  ttlSeconds,
}: Expiration): Pick<EnrolFaceRequest, "expiration"> | undefined {
  if (expireTime) return { expiration: { case: "expireTime", value: timestampFromDate(expireTime) } };
  if (ttlSeconds === undefined) return undefined;
  return { expiration: { case: "ttl", value: durationFromMs(ttlSeconds * 1000) } };
}

export function enrolmentFromMessage(message: EnrolFaceResponse): Enrolment {
  const { faceId, box, revision, personDistance, nearestOther } = message;
  return {
    faceId,
    box: box && boxFromMessage(box),
    revision: Number(revision),
    personDistance,
    nearestOther: nearestOther && matchFromMessage(nearestOther),
    ...measuresFromMessage(message),
  };
}

function matchFromMessage({ personId, displayName, faceId, distance }: PersonMatchMessage): PersonMatch {
  return { personId, displayName, faceId, distance };
}

export function identificationFromMessage(message: IdentifyFacesResponse): Identification {
  const { faces, threshold, falsePositiveRate, candidatesOnly, model, revision, stale } = message;
  return {
    faces: faces.map((face) => ({
      box: face.box && boxFromMessage(face.box),
      matches: face.matches.map(matchFromMessage),
      threshold: face.threshold,
      falsePositiveRate: face.falsePositiveRate,
      population: populationFromMessage(face.population),
      candidatesOnly: face.candidatesOnly,
      ...measuresFromMessage(face),
    })),
    threshold,
    falsePositiveRate,
    candidatesOnly,
    model,
    revision: Number(revision),
    stale,
  };
}

export function galleryFaceFromMessage(message: ExportGalleryResponse): GalleryFace {
  const { personId, faceId, displayName, embedding } = message;
  return {
    personId,
    faceId,
    displayName,
    template: templateFromMessage(embedding!),
    createTime: dateFrom(message.createTime),
    expireTime: optionalDateFrom(message.expireTime),
  };
}

/** Makes the message of a face to import. */
export function importRequest(
  galleryId: string,
  { personId, faceId = "", displayName = "", template, ...expiration }: NewGalleryFace,
): MessageInitShape<typeof ImportFacesRequestSchema> {
  const embedding = embeddingFromTemplate(template);
  return { galleryId, personId, faceId, displayName, embedding, ...expirationMessage(expiration) };
}

function optionalDateFrom(time: Timestamp | undefined): Date | undefined {
  return time && timestampDate(time);
}

function dateFrom(time: Timestamp | undefined): Date {
  return time ? timestampDate(time) : new Date(0);
}
