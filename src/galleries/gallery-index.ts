import { DIMENSIONS } from "../search/assembly/constants.ts";
import { CandidateList } from "./candidate-list.ts";
import { FaceIds } from "./face-ids.ts";
import {
  type GalleryChanges,
  type GalleryProgress,
  type GalleryVersion,
  MAX_FACES_PER_PERSON,
  type PackedTemplates,
  type Template,
} from "./gallery-store.ts";
import { QuantizedTemplates } from "./quantized-templates.ts";
import { hasMark, personHashOf } from "./removal-mark.ts";

/** The nearest face of a person. */
export interface PersonMatch {
  readonly personId: string;
  readonly faceId: string;
  readonly distance: number;
}

/** Memory of a template with ids of 36 characters each, such as UUIDs, about. */
export const BYTES_PER_FACE = 360;
/** Memory of an index beyond its templates and ids, about. */
const BYTES_PER_INDEX = 32 * 1024;

const COMMA = 0x2c;

/** Estimates the memory of an index. That of one that exists is known. */
export function estimateBytes(faces: number): number {
  return BYTES_PER_INDEX + faces * BYTES_PER_FACE;
}

/**
 * The templates of one gallery in memory. They are rounded, so the distances may be wrong by `maxError`, which is less
 * than 0.0001 for templates of the service: compare with the stored templates to get the exact ones.
 */
export class GalleryIndex implements GalleryProgress {
  until = -1;
  version: GalleryVersion | undefined;
  readonly #galleryKey: string;
  readonly #templates = new QuantizedTemplates();
  readonly #ids = new FaceIds(this.#templates);

  constructor(galleryKey: string) {
    this.#galleryKey = galleryKey;
  }

  get faces(): number {
    return this.#templates.size;
  }

  /** The memory that the index uses. */
  get bytes(): number {
    return BYTES_PER_INDEX + this.#templates.bytes + this.#ids.bytes;
  }

  get maxError(): number {
    return this.#templates.maxError;
  }

  /** Whether the index has the faces of a gallery in this version. */
  isAt({ revision, token }: GalleryVersion): boolean {
    return this.until === revision && this.version?.revision === revision && this.version.token === token;
  }

  /** Adds a template, or replaces that of the same face. */
  add({ personId, faceId, embedding }: Template): void {
    this.#addAll({ ids: Buffer.from(`${personId}/${faceId}`), embeddings: embedding });
  }

  /** Applies a page of changes, which must start at the progress of the index. Returns whether it is the last one. */
  apply({ removed, added, until, version }: GalleryChanges): boolean {
    for (const mark of removed) this.#removeMarked(mark);
    this.#addAll(added);
    this.until = until;
    this.version = version;
    return until === version.revision;
  }

  /**
   * Finds the faces that may be the nearest ones of the `maxPeople` nearest people. If their distances are replaced by
   * exact ones, `nearestPeople` finds exactly what it would find among all faces.
   */
  findCandidates(embedding: Float32Array, maxPeople: number, within: number): PersonMatch[] {
    // If all nearer faces belong to the same few people, this many are needed to reach the next person.
    const list = new CandidateList(Math.max(1, maxPeople * MAX_FACES_PER_PERSON), within, this.maxError);
    this.#templates.scan(embedding, list.bound, (row, distance) => {
      list.add({ row, distance });
      return list.bound;
    });
    const faces = list.candidates.map(({ row, distance }) => ({ ...this.#ids.idsOf(row), distance }));
    return candidatesFrom(faces, maxPeople, this.maxError);
  }

  /** Removes a face, or all faces of a person. */
  #removeMarked(mark: string): void {
    for (;;) {
      const row = this.#ids.findRow(personHashOf(mark), (ids) => hasMark(ids, mark, this.#galleryKey));
      if (row === undefined) return;
      this.#ids.remove(row);
    }
  }

  #addAll({ ids, embeddings }: PackedTemplates): void {
    const bytes = Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength);
    for (let start = 0, at = 0; at < embeddings.length; at += DIMENSIONS) {
      const comma = bytes.indexOf(COMMA, start);
      const end = comma < 0 ? bytes.length : comma;
      this.#templates.setTemplate(this.#ids.rowFor(bytes.subarray(start, end)), embeddings, at);
      start = end + 1;
    }
  }
}

/**
 * Keeps those of the faces, the nearest first, that may be the nearest ones of the `maxPeople` nearest people, if each
 * distance may be wrong by `maxError`.
 */
export function candidatesFrom(
  faces: readonly PersonMatch[],
  maxPeople: number,
  maxError: number,
): PersonMatch[] {
  const nearest = new Map<string, number>();
  for (const { personId, distance } of faces) if (!nearest.has(personId)) nearest.set(personId, distance);
  const lastDistance = [...nearest.values()][maxPeople - 1] ?? Number.POSITIVE_INFINITY;
  const slack = 2 * maxError;
  return faces.filter(
    ({ personId, distance }) =>
      distance <= lastDistance + slack && distance <= nearest.get(personId)! + slack,
  );
}

/** Finds the nearest people within a limit, each by the nearest of its faces. Equally near faces are ordered by id. */
export function nearestPeople<Face extends PersonMatch>(
  faces: readonly Face[],
  maxPeople: number,
  within: number,
): Face[] {
  const nearest = new Map<string, Face>();
  for (const face of faces.filter(({ distance }) => distance < within).toSorted(compareFaces))
    if (!nearest.has(face.personId)) nearest.set(face.personId, face);
  return [...nearest.values()].slice(0, maxPeople);
}

function compareFaces(one: PersonMatch, other: PersonMatch): number {
  const idOf = ({ personId, faceId }: PersonMatch) => `${personId}/${faceId}`;
  return one.distance - other.distance || (idOf(one) < idOf(other) ? -1 : 1);
}
