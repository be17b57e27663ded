// Conversion of the messages of visage.v1.GalleryService to the types of this client, and back.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type {
  EnrolFaceResponse,
  ExportGalleryResponse,
  Gallery as GalleryMessage,
  IdentifyFacesResponse,
  ImportFacesRequestSchema,
  Person as PersonMessage,
} from "../../gen/ts/visage/v1/gallery_pb.ts";
import {
  boxFromMessage,
  embeddingFromTemplate,
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
} from "./gallery-types.ts";

export function galleryFromMessage(message: GalleryMessage): Gallery {
  const { galleryId, displayName, model, maxDistance, peopleCount, faceCount, alias, readOnly } = message;
  return {
    ...{ galleryId, displayName, model, maxDistance, peopleCount, faceCount, alias, readOnly },
    revision: Number(message.revision),
    createTime: dateFrom(message.createTime),
  };
}

export function personFromMessage({ personId, displayName, faces, createTime }: PersonMessage): Person {
  return {
    personId,
    displayName,
    faces: faces.map((face) => ({ faceId: face.faceId, createTime: dateFrom(face.createTime) })),
    createTime: dateFrom(createTime),
  };
}

export function enrolmentFromMessage({ faceId, box, revision }: EnrolFaceResponse): Enrolment {
  return { faceId, box: box && boxFromMessage(box), revision: Number(revision) };
}

export function identificationFromMessage(message: IdentifyFacesResponse): Identification {
  const { faces, threshold, falsePositiveRate, candidatesOnly, model, revision, stale } = message;
  return {
    faces: faces.map((face) => ({
      box: face.box && boxFromMessage(face.box),
      matches: face.matches.map(({ personId, displayName, faceId, distance }) => ({
        personId,
        displayName,
        faceId,
        distance,
      })),
      threshold: face.threshold,
      falsePositiveRate: face.falsePositiveRate,
      population: populationFromMessage(face.population),
      candidatesOnly: face.candidatesOnly,
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
  const { personId, faceId, displayName, embedding, createTime } = message;
  return {
    personId,
    faceId,
    displayName,
    template: templateFromMessage(embedding!),
    createTime: dateFrom(createTime),
  };
}

/** Makes the message of a face to import. */
export function importRequest(
  galleryId: string,
  { personId, faceId = "", displayName = "", template }: NewGalleryFace,
): MessageInitShape<typeof ImportFacesRequestSchema> {
  return { galleryId, personId, faceId, displayName, embedding: embeddingFromTemplate(template) };
}

function dateFrom(time: Timestamp | undefined): Date {
  return time ? timestampDate(time) : new Date(0);
}
