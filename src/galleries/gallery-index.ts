import { TemplateIndex } from "../search/template-index.ts";
import { type GalleryChanges, MAX_FACES_PER_PERSON, type Template } from "./gallery-store.ts";

/** The nearest face of a person. */
export interface PersonMatch {
  readonly personId: string;
  readonly faceId: string;
  readonly distance: number;
}

/** Memory of a template with its ids, about. */
export const BYTES_PER_FACE = 800;

/** Between the ids of person and face; no id has it. */
const SEPARATOR = "/";

/** The templates of one gallery in memory, at one of its revisions. */
export class GalleryIndex {
  /** The revision of the gallery that the index has. */
  revision: number;
  readonly #templates = new TemplateIndex();
  readonly #facesOf = new Map<string, Set<string>>();

  /** Creates an empty index. Add what the gallery has at this revision. */
  constructor(revision: number) {
    this.revision = revision;
  }

  get faces(): number {
    return this.#templates.size;
  }

  get bytes(): number {
    return this.faces * BYTES_PER_FACE;
  }

  /** Adds a template, or replaces that of the same face. */
  add({ personId, faceId, vector }: Template): void {
    this.#templates.add(personId + SEPARATOR + faceId, vector);
    const faces = this.#facesOf.get(personId);
    if (faces) faces.add(faceId);
    else this.#facesOf.set(personId, new Set([faceId]));
  }

  /** Applies changes, which must start at the revision of the index. */
  apply({ removed, added, until }: GalleryChanges): void {
    for (const { personId, faceId } of removed) this.#remove(personId, faceId);
    for (const template of added) this.add(template);
    this.revision = until;
  }

  /** Finds the nearest people, each by the nearest of its faces. The search is exact. */
  nearest(vector: Float32Array, maxPeople: number, within: number): PersonMatch[] {
    const nearest = new Map<string, PersonMatch>();
    // If all nearer faces belong to the same few people, this many are needed to reach the next person.
    const k = Math.max(1, maxPeople * MAX_FACES_PER_PERSON);
    for (const { id, distance } of this.#templates.nearest(vector, { k, within })) {
      const [personId, faceId] = id.split(SEPARATOR) as [string, string];
      if (!nearest.has(personId)) nearest.set(personId, { personId, faceId, distance });
    }
    return [...nearest.values()].slice(0, maxPeople);
  }

  #remove(personId: string, faceId: string | undefined): void {
    const faces = this.#facesOf.get(personId);
    if (!faces) return;
    for (const id of faceId === undefined ? [...faces] : [faceId]) {
      this.#templates.remove(personId + SEPARATOR + id);
      faces.delete(id);
    }
    if (faces.size === 0) this.#facesOf.delete(personId);
  }
}
