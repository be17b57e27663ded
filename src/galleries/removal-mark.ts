// Marks of removed people and faces, by which replicas find what to remove. A mark has no id, because ids may be names.
import { hash } from "node:crypto";

/** Between the ids of person and face; no id has it. */
const SLASH = 0x2f;
/** 128 bits in hexadecimal. */
const DIGEST_LENGTH = 32;
const HASH_LENGTH = 8;

/** Returns the mark of a person, or of a face. The key of the gallery makes the marks of galleries different. */
export function markOf(galleryKey: string, personId: string, faceId = ""): string {
  const ids = Buffer.from(`${personId}/${faceId}`);
  return hashPerson(ids).toString(16).padStart(HASH_LENGTH, "0") + digestOf(galleryKey, ids);
}

/** The hash of the person of a mark, by which rows are found. */
export function personHashOf(mark: string): number {
  return Number.parseInt(mark.slice(0, HASH_LENGTH), 16);
}

/** The part of a mark from which nobody can find out its ids without the key of the gallery. */
export function secretPartOf(mark: string): string {
  return mark.slice(HASH_LENGTH);
}

/** Whether a face, given as `person/face`, or its person has the mark. */
export function hasMark(ids: Buffer, mark: string, galleryKey: string): boolean {
  const digest = secretPartOf(mark);
  const person = ids.subarray(0, ids.indexOf(SLASH) + 1);
  return digestOf(galleryKey, person) === digest || digestOf(galleryKey, ids) === digest;
}

/** FNV-1a of the bytes before the slash, with the upper bits mixed into the lower ones. */
export function hashPerson(ids: Buffer): number {
  let hash = 0x811c9dc5;
  for (let i = 0; ids[i] !== SLASH; i++) hash = Math.imul(hash ^ ids[i]!, 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

function digestOf(galleryKey: string, ids: Buffer): string {
  return hash("sha256", Buffer.concat([Buffer.from(`${galleryKey}/`), ids])).slice(0, DIGEST_LENGTH);
}
