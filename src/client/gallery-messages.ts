// Conversion of the messages of visage.v1.GalleryService to the types of this client, and back.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { CandidatesReason, Population } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type {
  DeletePersonResponse,
  EnrolFaceRequest,
  EnrolFaceResponse,
  ExportGalleryResponse,
  ExportPersonResponse,
  Gallery as GalleryMessage,
  IdentifyFacesResponse,
  ImportFacesRequestSchema,
  Person as PersonMessage,
} from "../../gen/ts/visage/v1/gallery_pb.ts";
import { embeddingFromTemplate, measuresFromMessage, templateFromMessage } from "./analysis.ts";
import type {
  Enrolment,
  Gallery,
  GalleryFace,
  Identification,
  NewGalleryFace,
  Person,
} from "./gallery-types.ts";
import type { DeletionReceipt, Expiration, ExportedPerson } from "./person-types.ts";
import { enumName, plain } from "./plain.ts";

export function galleryFromMessage(message: GalleryMessage): Gallery {
  const { maxDistance, ...others } = plain(message);
  return {
    ...{ ...others, maxDistance },
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
  return { ...plain(message), deleteTime: dateFrom(message.deleteTime) };
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
  const { box, personDistance, nearestOther, ...others } = plain(message);
  return {
    ...{ ...others, box, personDistance, nearestOther },
    revision: Number(message.revision),
    ...measuresFromMessage(message),
  };
}

export function identificationFromMessage(message: IdentifyFacesResponse): Identification {
  const { falsePositiveRate, ...others } = plain(message);
  return {
    ...others,
    faces: message.faces.map((face) => ({
      ...plain(face),
      box: face.box && plain(face.box),
      falsePositiveRate: face.falsePositiveRate,
      population: enumName(Population, face.population),
      candidatesReason: face.candidatesReason ? enumName(CandidatesReason, face.candidatesReason) : undefined,
      ...measuresFromMessage(face),
    })),
    falsePositiveRate,
    revision: Number(message.revision),
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
