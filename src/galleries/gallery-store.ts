import type { PlanLimits } from "../plan-limits.ts";

/**
 * A state of the people and faces of a gallery. Every change makes another one. A database that was restored from a
 * backup, or taken over by a standby that lagged, uses its revisions again, but never with the same token.
 */
export interface GalleryVersion {
  /** Increases with every change. */
  readonly revision: number;
  /** Random. */
  readonly token: string;
}

/** A collection of people who can be identified. It belongs to one user. */
export interface Gallery extends GalleryVersion {
  /** Random. A gallery that is created anew with the same id has another key. */
  readonly key: string;
  /** Chosen by the user; unique among its galleries. */
  readonly id: string;
  /** Another id under which it is found; unique among the ids and aliases of its user. */
  readonly alias: string | undefined;
  readonly displayName: string;
  /** The model of all its templates. */
  readonly model: string;
  /** The user's own threshold, if it has one. */
  readonly maxDistance: number | undefined;
  readonly people: number;
  readonly faces: number;
  readonly createdAt: Date;
  /** When it is removed with everybody in it; undefined if it is kept. */
  readonly expiresAt: Date | undefined;
  /** When it was last marked as searched, if it was. */
  readonly lastSearchedAt: Date | undefined;
}

/** The parts of a gallery that its user chooses. */
export type NewGallery = Pick<Gallery, "id" | "displayName" | "model" | "maxDistance"> &
  Partial<Pick<Gallery, "expiresAt">>;

/** The parts of a gallery that can be changed. A field that is not given keeps its value. */
export type GalleryUpdate = Partial<Pick<Gallery, "displayName" | "maxDistance" | "alias" | "expiresAt">>;

/** A gallery that has replaced another one. */
export interface Replacement {
  readonly gallery: Gallery;
  /** Number of faces of the replaced gallery. */
  readonly removedFaces: number;
}

/** An enrolled person. */
export interface Person {
  /** Chosen by the user; unique in the gallery. */
  readonly id: string;
  readonly displayName: string;
  readonly createdAt: Date;
  /** When it is removed; undefined if it is kept. */
  readonly expiresAt: Date | undefined;
  readonly faces: readonly EnrolledFace[];
}

/** The parts of a person that can be changed. A field that is not given keeps its value. */
export type PersonUpdate = Partial<Pick<Person, "displayName" | "expiresAt">>;

/** A person who was deleted from a gallery. */
export interface PersonDeletion {
  readonly galleryId: string;
  /** Number of faces of the person. */
  readonly faces: number;
}

/** A face of a person, without its template. */
export interface EnrolledFace {
  /** Unique among the faces of the person. */
  readonly id: string;
  readonly createdAt: Date;
}

/** The ids of a face. */
export interface FaceIdentity {
  readonly personId: string;
  readonly faceId: string;
}

/** A template with the ids of its person and face. */
export interface Template extends FaceIdentity {
  readonly embedding: Float32Array;
}

/** A face to enrol. */
export interface NewFace extends Template {
  /** Names the person; an earlier name stays if this is undefined. */
  readonly displayName?: string | undefined;
  /**
   * When the person is removed; null for never. If it is undefined, an earlier time stays, and a new person gets the
   * default of the limits.
   */
  readonly expiresAt?: Date | null | undefined;
}

/** A template as it is stored. */
export interface StoredFace extends Template {
  readonly displayName: string;
  /** The revision of the gallery at which the template was enrolled. */
  readonly revision: number;
}

/** A template as it is exported. */
export interface ExportedFace extends Template {
  readonly displayName: string;
  readonly createdAt: Date;
  /** When the person is removed; undefined if it is kept. */
  readonly expiresAt: Date | undefined;
}

/** The limits of a user's plan. `maxRetentionDays` limits the default; the caller has checked times that are given. */
export type GalleryLimits = PlanLimits;

/** Maximum number of faces of one person, whatever the plan is. */
export const MAX_FACES_PER_PERSON = 20;

/** How much of a gallery has been read. */
export interface GalleryProgress {
  /** Faces whose last change is at this revision or before have been read; -1 if none have. */
  readonly until: number;
  /** The state from which they were last read; undefined if nothing has been read. */
  readonly version: GalleryVersion | undefined;
}

/** A page of what changed in a gallery since some progress. */
export interface GalleryChanges extends GalleryProgress {
  readonly version: GalleryVersion;
  /** Marks of people and faces that were removed before `added`. */
  readonly removed: readonly string[];
  readonly added: PackedTemplates;
}

/** Templates in two buffers, because an object for each of a million templates takes several seconds. */
export interface PackedTemplates {
  /** For each template, the ids of person and face as `person/face`. Separated by commas. */
  readonly ids: Uint8Array;
  readonly embeddings: Float32Array;
}

/**
 * Why a gallery has to be read from the start: `replaced` if the database no longer has the state that was read, as after
 * a restore, and `outdated` if the changes since then are no longer recorded.
 */
export type ReloadCause = "replaced" | "outdated";

/** Maximum number of faces that are enrolled at once. SQLite enrols a batch on the event loop: 500 block it too long. */
export const MAX_ENROLMENT_BATCH = 100;

/** Why a gallery cannot be used or changed as asked. */
export type GalleryErrorKind =
  | "galleryNotFound"
  | "personNotFound"
  | "faceNotFound"
  | "galleryExists"
  | "galleryChanged"
  | "tooManyGalleries"
  | "tooManyFaces"
  | "tooManyFacesOfPerson"
  | "galleryTooLarge"
  | "galleryLoading"
  /** Not reported as such: it is a permission that is missing. */
  | "distanceTooWide"
  | "modelMismatch"
  | "overloaded";

/** A request that conflicts with what is stored. Any other error of a store means that it could not be reached. */
export class GalleryError extends Error {
  override readonly name = "GalleryError";
  readonly kind: GalleryErrorKind;
  /** When to try again, if it is known. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: GalleryErrorKind, message: string, retryAfterMs?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Makes the error of a face of this model for a gallery with templates of another one. */
export function readOnlyError({ id, model }: Gallery, faceModel: string): GalleryError {
  const text = `The gallery ${id} has templates of ${model} and takes none of ${faceModel}. Migrate it to enrol faces.`;
  return new GalleryError("modelMismatch", text);
}

/** A page of a list. */
export interface Page {
  /** The id after which the page starts; undefined for the first page. */
  readonly after?: string | undefined;
  readonly size: number;
}

/** A page of people. */
export interface PeoplePage {
  readonly people: readonly Person[];
  /** Whether no page follows. */
  readonly isLast: boolean;
}

/**
 * Stores galleries, people and templates. Every method takes the id of the user and reaches only what belongs to it. The
 * id of a gallery may be its alias. All methods may throw GalleryError. Replicas may share one store. Before a gallery is
 * read or changed, everything that has expired in it is removed.
 */
export interface GalleryStore {
  createGallery(userId: string, gallery: NewGallery, limits: GalleryLimits): Promise<Gallery>;
  getGallery(userId: string, galleryId: string): Promise<Gallery>;
  /** Lists galleries by id: all, or those that have a person. */
  listGalleries(userId: string, page: Page, personId?: string): Promise<Gallery[]>;
  /** Changes a gallery. An alias moves from the gallery that has it. An earlier name is then erased. */
  updateGallery(userId: string, galleryId: string, changes: GalleryUpdate): Promise<Gallery>;
  /** Deletes a gallery with all its templates, which are then erased. Returns their number. */
  deleteGallery(userId: string, galleryId: string): Promise<number>;
  /**
   * Deletes a gallery and gives its id, alias, name, threshold and end to another one, at once. If a revision is given, the
   * deleted gallery must have it.
   */
  replaceGallery(
    userId: string,
    galleryId: string,
    successorId: string,
    revision: number | undefined,
  ): Promise<Replacement>;

  /**
   * Enrols at most MAX_ENROLMENT_BATCH faces of one model, all or none. A face with the ids of an earlier one replaces
   * it, whose template is then erased, and so is the earlier name of a person. If a key is given, a gallery with the same
   * id but another key counts as not found. Returns the gallery.
   */
  enrolFaces(
    userId: string,
    galleryId: string,
    model: string,
    faces: readonly NewFace[],
    limits: GalleryLimits,
    galleryKey?: string,
  ): Promise<Gallery>;
  getPerson(userId: string, galleryId: string, personId: string): Promise<Person>;
  /** Lists people by id. A page with many faces has fewer people than its size. */
  listPeople(userId: string, galleryId: string, page: Page): Promise<PeoplePage>;
  /** Changes a person, whose earlier name is then erased. */
  updatePerson(userId: string, galleryId: string, personId: string, changes: PersonUpdate): Promise<Person>;
  /**
   * Deletes a person with all templates, which are then erased. Without the id of a gallery, deletes the person from all
   * galleries of the user. Returns the galleries that had the person, by id.
   */
  deletePerson(userId: string, galleryId: string | undefined, personId: string): Promise<PersonDeletion[]>;
  /** Deletes a face. Its template is then erased. */
  deleteFace(userId: string, galleryId: string, personId: string, faceId: string): Promise<void>;

  /** Reads templates by the ids of their people and faces, starting after those of `after`. */
  readFaces(
    galleryKey: string,
    page: { readonly after?: FaceIdentity | undefined; readonly size: number },
  ): Promise<ExportedFace[]>;
  /**
   * Reads a page of what changed since some progress, or why everything has to be read again. The page is the last one if
   * `until` is the revision of its version. Throws GalleryError if the gallery does not exist any more.
   */
  readChanges(galleryKey: string, since: GalleryProgress): Promise<GalleryChanges | ReloadCause>;

  /** Finds faces with the names of their people. Those that do not exist are left out. */
  findFaces(galleryKey: string, ids: readonly FaceIdentity[]): Promise<StoredFace[]>;

  /** Marks a gallery as searched now. */
  markSearched(galleryKey: string): Promise<void>;
  /** Lists the galleries of all users that were marked as searched, the last one first. */
  listSearched(count: number): Promise<{ readonly userId: string; readonly gallery: Gallery }[]>;

  /** Counts the galleries of all users by model. */
  countModels(): Promise<ReadonlyMap<string, number>>;
  /** Removes what has expired in all galleries, in small transactions, until the signal is aborted. */
  removeExpired(signal: AbortSignal): Promise<void>;
  /** Starts to finish deletions that were interrupted. */
  finishDeletions(): void;
  /**
   * Waits until deleted and replaced templates and names are erased, by default a little. Returns whether they are: otherwise that
   * goes on in the background. Never rejects.
   */
  waitForErasure(maxMs?: number): Promise<boolean>;
}
