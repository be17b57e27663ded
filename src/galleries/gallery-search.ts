import type { FalseMatchCurve } from "../core/index.ts";
import { BYTES_PER_FACE, GalleryIndex, type PersonMatch } from "./gallery-index.ts";
import { type Gallery, GalleryError, type GalleryStore } from "./gallery-store.ts";
import { describeDistance, type GalleryThreshold, thresholdForSize } from "./gallery-threshold.ts";

/** Who to look for. */
export interface SearchRequest {
  readonly userId: string;
  readonly galleryId: string;
  /** The faces to identify. */
  readonly vectors: readonly Float32Array[];
  /** The model that made the vectors. */
  readonly model: string;
  /** Maximum number of people for each vector. */
  readonly maxResults: number;
  /** The user's own threshold; otherwise that of the gallery, or one that fits its size. */
  readonly maxDistance: number | undefined;
}

/** Who was found. */
export interface SearchResult {
  readonly gallery: Pick<Gallery, "model" | "revision" | "faces" | "people">;
  readonly threshold: GalleryThreshold;
  /** For each vector, the people within the threshold, the nearest first. */
  readonly matches: readonly (readonly NamedMatch[])[];
  /** Whether the database could not be reached, so that recent changes may be missing. */
  readonly isStale: boolean;
}

/** A person who was found. */
export interface NamedMatch extends PersonMatch {
  /** Empty if the person has no name or the database could not be reached. */
  readonly displayName: string;
}

/** Options of a search engine. */
export interface GallerySearchOptions {
  readonly store: GalleryStore;
  readonly curve: FalseMatchCurve;
  /** Memory of all indexes together. */
  readonly maxBytes: number;
  /** How long a gallery is searched without the database, since it was last read. */
  readonly graceMs: number;
}

/** Faces in one page when an index is read. */
const PAGE_SIZE = 5_000;

/** A gallery with its index. */
interface OpenGallery {
  /** As last read. */
  gallery: Gallery;
  /** When the index had all faces of the gallery, by `performance.now()`; undefined if it never had. */
  readAtMs: number | undefined;
  index: GalleryIndex;
  /** Ends when the last update of the index has ended. */
  updating: Promise<void>;
}

/**
 * Searches galleries in memory. Before every search it reads the revision of the gallery and applies what has changed.
 * Indexes are read on first use; the least recently used ones are dropped when the memory is full.
 */
export class GallerySearch {
  readonly #options: GallerySearchOptions;
  /** By the ids of user and gallery, the least recently used first. */
  readonly #open = new Map<string, OpenGallery>();

  constructor(options: GallerySearchOptions) {
    this.#options = options;
  }

  /** The memory of all indexes. */
  get bytes(): number {
    return [...this.#open.values()].reduce((sum, { index }) => sum + index.bytes, 0);
  }

  /** Throws GalleryError, or what the store throws if it is unavailable for longer than the grace period. */
  async search(request: SearchRequest): Promise<SearchResult> {
    const { vectors, model, maxResults } = request;
    const { open, isStale } = await this.#openGallery(request.userId, request.galleryId);
    const { gallery, index } = open;
    if (gallery.model !== model)
      throw new GalleryError(
        "modelMismatch",
        `The gallery ${gallery.id} has templates of ${gallery.model} and the face was analysed by ${model}.`,
      );
    const threshold = this.#thresholdFor(gallery, index.faces, request.maxDistance);
    const found = vectors.map((vector) => index.nearest(vector, maxResults, threshold.distance));
    const names = isStale ? new Map<string, string>() : await this.#namesOf(gallery, found.flat());
    return {
      gallery: { model: gallery.model, revision: index.revision, faces: index.faces, people: gallery.people },
      threshold,
      matches: found.map((matches) =>
        matches.map((match) => ({ ...match, displayName: names.get(match.personId) ?? "" })),
      ),
      isStale,
    };
  }

  #thresholdFor(gallery: Gallery, faces: number, maxDistance = gallery.maxDistance): GalleryThreshold {
    const { curve } = this.#options;
    return maxDistance === undefined
      ? thresholdForSize(faces, curve)
      : describeDistance(maxDistance, faces, curve);
  }

  async #namesOf({ key }: Gallery, matches: readonly PersonMatch[]): Promise<ReadonlyMap<string, string>> {
    if (matches.length === 0) return new Map();
    const ids = [...new Set(matches.map(({ personId }) => personId))];
    return this.#options.store.findNames(key, ids);
  }

  /** Opens a gallery at its current revision, or at the last known one while the store is unavailable. */
  async #openGallery(
    userId: string,
    galleryId: string,
  ): Promise<{ readonly open: OpenGallery; readonly isStale: boolean }> {
    const name = `${userId} ${galleryId}`;
    try {
      const gallery = await this.#options.store.getGallery(userId, galleryId);
      return { open: await this.#update(name, gallery), isStale: false };
    } catch (error) {
      if (error instanceof GalleryError) {
        if (error.kind === "galleryNotFound") this.#open.delete(name);
        throw error;
      }
      const open = this.#open.get(name);
      if (open?.readAtMs === undefined || performance.now() - open.readAtMs > this.#options.graceMs)
        throw error;
      return { open, isStale: true };
    }
  }

  /** Updates the index of a gallery to its revision. Updates of one gallery run one after another. */
  async #update(name: string, gallery: Gallery): Promise<OpenGallery> {
    let open = this.#open.get(name);
    if (open?.gallery.key !== gallery.key) {
      this.#makeRoom(gallery.faces, name);
      const index = new GalleryIndex(gallery.revision);
      const reading = this.#readAll(gallery, index);
      open = { gallery, readAtMs: undefined, index, updating: reading };
      reading.catch(() => this.#open.get(name) === open && this.#open.delete(name));
    } else {
      const { updating } = open;
      open.updating = updating.catch(() => {}).then(() => this.#readChanges(open!, gallery));
    }
    // The most recently used gallery is the last one.
    this.#open.delete(name);
    this.#open.set(name, open);
    await open.updating;
    if (gallery.revision >= open.gallery.revision) open.gallery = gallery;
    open.readAtMs = performance.now();
    return open;
  }

  async #readAll({ key }: Gallery, index: GalleryIndex): Promise<void> {
    const { store } = this.#options;
    for (let page = await store.readFaces(key, { size: PAGE_SIZE }); page.length > 0; ) {
      for (const face of page) index.add(face);
      page =
        page.length < PAGE_SIZE ? [] : await store.readFaces(key, { after: page.at(-1), size: PAGE_SIZE });
    }
  }

  async #readChanges(open: OpenGallery, gallery: Gallery): Promise<void> {
    while (open.index.revision < gallery.revision) {
      const changes = await this.#options.store.readChanges(gallery, open.index.revision);
      if (!changes) {
        const index = new GalleryIndex(gallery.revision);
        await this.#readAll(gallery, index);
        open.index = index;
      } else open.index.apply(changes);
    }
    this.#makeRoom(0);
  }

  /** Drops the least recently used indexes until there is room for this many more faces. */
  #makeRoom(faces: number, except?: string): void {
    const { maxBytes } = this.#options;
    const needed = faces * BYTES_PER_FACE;
    if (needed > maxBytes)
      throw new GalleryError(
        "galleryTooLarge",
        `The gallery has ${faces} faces and the memory for galleries holds ${Math.floor(maxBytes / BYTES_PER_FACE)}.`,
      );
    if (except !== undefined) this.#open.delete(except);
    for (const name of this.#open.keys()) {
      if (this.bytes + needed <= maxBytes) return;
      this.#open.delete(name);
    }
  }
}
