import type { CandidatesReason, FaceInput, FaceMeasures, Population, Template } from "./analysis-types.ts";
import type { Box } from "./geometry.ts";
import type { DeletionReceipt, Expiration, ExportedPerson, PersonChanges } from "./person-types.ts";

/** A collection of people who can be identified. */
export interface Gallery {
  readonly galleryId: string;
  /** A name for people, possibly empty. */
  readonly displayName: string;
  /** The model of all its templates. */
  readonly model: string;
  /** The threshold of the gallery, 0 to 0.9. Undefined if the service chooses one that fits the number of faces. */
  readonly maxDistance: number | undefined;
  readonly peopleCount: number;
  readonly faceCount: number;
  /** Increases with every change of people and faces. */
  readonly revision: number;
  readonly createTime: Date;
  /** Another id of the gallery, possibly empty. */
  readonly alias: string;
  /** Whether the templates are of another model than that of the service, so that no faces can be enrolled. */
  readonly readOnly: boolean;
  /** When it is deleted with everybody in it; undefined if it is kept. */
  readonly expireTime: Date | undefined;
}

/** An enrolled person. */
export interface Person {
  readonly personId: string;
  /** A name for people, possibly empty. */
  readonly displayName: string;
  /** The faces, by id; at most 20. */
  readonly faces: readonly EnrolledFace[];
  readonly createTime: Date;
  /** When the person is deleted; undefined if it is kept. */
  readonly expireTime: Date | undefined;
}

/** A face of a person. */
export interface EnrolledFace {
  readonly faceId: string;
  readonly createTime: Date;
}

/** A page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Asks for the next page; undefined on the last one. */
  readonly nextPageToken: string | undefined;
}

/** Options of a call about galleries. */
export interface GalleryCallOptions {
  /** Cancels the call, which then rejects with a VisageError of the reason `CANCELLED`. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a page. */
export interface PageOptions extends GalleryCallOptions {
  /** How many items to return, 1 to 1000. Default: 100. */
  readonly pageSize?: number | undefined;
  /** `nextPageToken` of the page before. */
  readonly pageToken?: string | undefined;
}

/** Options of a new gallery. */
export interface NewGalleryOptions extends GalleryCallOptions, Expiration {
  /** A name for people; at most 256 bytes. */
  readonly displayName?: string | undefined;
  /** A threshold, above 0 to 0.9. Without it, the service chooses one that fits the number of faces. */
  readonly maxDistance?: number | undefined;
}

/** Changes of a gallery. What is undefined keeps its value. */
export interface GalleryChanges extends Expiration {
  readonly displayName?: string | undefined;
  /** The new threshold, above 0 to 0.9. 0 lets the service choose again. */
  readonly maxDistance?: number | undefined;
  /** Another id of the gallery; empty for none. It moves at once from the gallery that has it. */
  readonly alias?: string | undefined;
}

/** Options of an enrolment. A new person without a time gets the default of the plan. */
export interface EnrolOptions extends GalleryCallOptions, Expiration {
  /** Selects the face of the image. Default: the most prominent one. */
  readonly box?: Box | undefined;
  /** The id of the face. Without it, one is made from the template, so that the same photo is enrolled once. */
  readonly faceId?: string | undefined;
  /** Names the person. An earlier name stays if this is undefined. */
  readonly displayName?: string | undefined;
  /** Whether to enrol a face although it is unsuited for recognition. */
  readonly skipQualityCheck?: boolean | undefined;
  /**
   * Whether to search the gallery first. Rejects with `FACE_UNLIKE_PERSON` if the face is far from the other faces of the
   * person, and with `FACE_OF_ANOTHER_PERSON` if it is nearer to another one. Needs the permissions of `identify`.
   */
  readonly checkPerson?: boolean | undefined;
}

/** An enrolled face. Its measures are undefined if a template was enrolled, or if the check was skipped. */
export interface Enrolment extends FaceMeasures {
  readonly faceId: string;
  /** The face in the image. Undefined if a template was enrolled. */
  readonly box: Box | undefined;
  /** The revision of the gallery that has the face. */
  readonly revision: number;
  /** Distance to the nearest other face of the person. Undefined without `checkPerson`, or if there is none. */
  readonly personDistance: number | undefined;
  /** The nearest other person who matches. Undefined without `checkPerson`, or if nobody does. */
  readonly nearestOther: PersonMatch | undefined;
}

/** Options of an identification. */
export interface IdentifyOptions extends GalleryCallOptions {
  /** Selects one face of the image. Default: every face. */
  readonly box?: Box | undefined;
  /** How many people to return for each face, 1 to 100. Default: 1. */
  readonly maxResults?: number | undefined;
  /** A threshold, above 0 to 0.9. Default: that of the gallery. */
  readonly maxDistance?: number | undefined;
  /** Skips the estimate of age and gender: thresholds and rates then hold for adults only. */
  readonly assumeAdults?: boolean | undefined;
  /** Whether to measure quality and pose of the faces in an image, too. */
  readonly quality?: boolean | undefined;
}

/** Who the faces of an image may be. */
export interface Identification {
  /** One entry for each face, the most prominent first. */
  readonly faces: readonly IdentifiedFace[];
  /** The smallest threshold of the faces; for adults if there is no face. */
  readonly threshold: number;
  /** The highest false positive rate of the faces; for adults if there is no face. */
  readonly falsePositiveRate: number | undefined;
  /** Whether the matches of a face are candidates for a person to judge. */
  readonly candidatesOnly: boolean;
  readonly model: string;
  /** The revision of the gallery that was searched. */
  readonly revision: number;
  /** Whether the database could not be reached, so that recent changes may be missing. */
  readonly stale: boolean;
}

/** Who one face may be. Its measures are undefined unless the call asked for quality. */
export interface IdentifiedFace extends FaceMeasures {
  /** The face in the image. Undefined if a template was searched. */
  readonly box: Box | undefined;
  /** The people within the threshold, the nearest first. Empty for a stranger. */
  readonly matches: readonly PersonMatch[];
  /** The distance below which the face matches a person. */
  readonly threshold: number;
  /** Expected share of strangers of the population who match somebody (FPIR). Undefined beyond the measured curve. */
  readonly falsePositiveRate: number | undefined;
  /** For whom `falsePositiveRate` holds, if everybody in the gallery is of this population, too. */
  readonly population: Population;
  /** Whether the gallery is too large, or the population too similar, for a verdict. */
  readonly candidatesOnly: boolean;
  /** Why, if `candidatesOnly` is true. */
  readonly candidatesReason: CandidatesReason | undefined;
}

/** A person whom a face resembles. */
export interface PersonMatch {
  readonly personId: string;
  /** A name for people, possibly empty. */
  readonly displayName: string;
  /** The nearest face of the person. */
  readonly faceId: string;
  /** 0 to 0.9. */
  readonly distance: number;
}

/** A face to import. A time of the past is valid: the person is then deleted at once. */
export interface NewGalleryFace extends Expiration {
  readonly personId: string;
  /** Without it, an id is made from the template. */
  readonly faceId?: string | undefined;
  /** Names the person. An earlier name stays if this is empty or undefined. */
  readonly displayName?: string | undefined;
  readonly template: Template;
}

/** A face of a gallery with its template. */
export interface GalleryFace extends NewGalleryFace {
  readonly faceId: string;
  readonly displayName: string;
  readonly createTime: Date;
  /** When the person is deleted; undefined if it is kept. */
  readonly expireTime: Date | undefined;
}

/** Options of an import. */
export interface ImportOptions extends GalleryCallOptions {
  /** Called after each batch with the number of faces that the gallery has by now from this import. */
  readonly onProgress?: ((faceCount: number) => void) | undefined;
}

/** The result of an import. */
export interface ImportResult {
  readonly faceCount: number;
  /** The revision of the gallery that has the faces. */
  readonly revision: number;
}

/**
 * The operations on galleries. Ids of galleries, people and faces are the caller's: 1 to 128 letters, digits and `.`,
 * `_`, `~`, `-`.
 */
export interface Galleries {
  /**
   * Creates a gallery for templates of the service's model. Rejects with `GALLERY_EXISTS` if the id is taken. It is
   * retried only if the service has rejected it without any work: a lost response does not tell whether it was created.
   */
  create(galleryId: string, options?: NewGalleryOptions): Promise<Gallery>;
  get(galleryId: string, options?: GalleryCallOptions): Promise<Gallery>;
  /** Iterates over all galleries of the user by id. */
  list(options?: GalleryCallOptions): AsyncIterable<Gallery>;
  listPage(options?: PageOptions): Promise<Page<Gallery>>;
  /** Changes the name, the threshold, the alias or the end of a gallery. */
  update(galleryId: string, changes: GalleryChanges, options?: GalleryCallOptions): Promise<Gallery>;
  /**
   * Lets the successor take over the id, alias, name, threshold and end of a gallery at once, and deletes the gallery. With a
   * `revision`, rejects with `GALLERY_CHANGED` if the gallery has another one now.
   */
  replace(
    galleryId: string,
    successorId: string,
    options?: GalleryCallOptions & { readonly revision?: number | undefined },
  ): Promise<Gallery>;
  /** Deletes a gallery with everybody in it. When it resolves, the templates are erased. */
  delete(galleryId: string, options?: GalleryCallOptions): Promise<void>;

  /**
   * Adds a face of a person, and the person if it is new. A face with the same id replaces the earlier one. Rejects with
   * `FACE_TOO_SMALL`, `LOW_ILLUMINATION` or `INCORRECT_POSE` if the face is unsuited for recognition.
   */
  enrolFace(galleryId: string, personId: string, face: FaceInput, options?: EnrolOptions): Promise<Enrolment>;
  getPerson(galleryId: string, personId: string, options?: GalleryCallOptions): Promise<Person>;
  /** Iterates over all people of a gallery by id. */
  listPeople(galleryId: string, options?: GalleryCallOptions): AsyncIterable<Person>;
  listPeoplePage(galleryId: string, options?: PageOptions): Promise<Page<Person>>;
  /** Changes the name of a person, or how long it is kept. */
  updatePerson(
    galleryId: string,
    personId: string,
    changes: PersonChanges,
    options?: GalleryCallOptions,
  ): Promise<Person>;
  /**
   * Deletes a person with all faces, from a gallery or, with the gallery id `-`, from all galleries of the user. The
   * receipt says whether the templates are erased. It is undefined if the person was deleted by an attempt whose response
   * was lost.
   */
  deletePerson(
    galleryId: string,
    personId: string,
    options?: GalleryCallOptions,
  ): Promise<DeletionReceipt | undefined>;
  /** Returns everything that is stored about a person in a gallery or, with the gallery id `-`, in all of the user. */
  exportPerson(galleryId: string, personId: string, options?: GalleryCallOptions): Promise<ExportedPerson[]>;
  /** Deletes a face. When it resolves, its template is erased. */
  deleteFace(
    galleryId: string,
    personId: string,
    faceId: string,
    options?: GalleryCallOptions,
  ): Promise<void>;

  /** Finds the people to whom the faces of an image, or a template, may belong. A stranger has no matches. */
  identify(galleryId: string, face: FaceInput, options?: IdentifyOptions): Promise<Identification>;

  /**
   * Iterates over all faces of a gallery, ordered by the ids of person and face. When the stream breaks, a new one is
   * opened and continues after the last face, up to `retries` times without a new face. `timeoutMs` limits the wait for
   * each face.
   */
  exportFaces(galleryId: string, options?: GalleryCallOptions): AsyncIterable<GalleryFace>;
  /**
   * Enrols exported faces in batches of 5,000, each of which is one request with its own deadline and retries. Faces with
   * the same ids are replaced, so an import that failed can be repeated; the batches before the failure stay.
   * VisageError has the `position` of a face that is rejected, and its message says how many faces are stored. Rejects
   * with the error of `faces`, too.
   *
   * Node only: a browser cannot stream requests, and this method rejects with TypeError there.
   */
  importFaces(
    galleryId: string,
    faces: Iterable<NewGalleryFace> | AsyncIterable<NewGalleryFace>,
    options?: ImportOptions,
  ): Promise<ImportResult>;
}
