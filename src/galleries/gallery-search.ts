import type { FalseMatchCurve } from "../core/index.ts";
import type { PersonMatch } from "./gallery-index.ts";
import {
  GalleryIndexes,
  type GalleryIndexesOptions,
  type IndexesSize,
  type OpenGallery,
} from "./gallery-indexes.ts";
import { type Gallery, GalleryError, type GalleryStore } from "./gallery-store.ts";
import { describeDistance, type GalleryThreshold, thresholdForSize } from "./gallery-threshold.ts";
import { ScanQueue } from "./scan-queue.ts";

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
export interface GallerySearchOptions extends GalleryIndexesOptions {
  readonly store: GalleryStore;
  readonly curve: FalseMatchCurve;
  /** How long a gallery is searched without the database, since it was last read. */
  readonly graceMs: number;
  /** How long a search may wait for others. */
  readonly maxWaitMs: number;
}

/** Searches galleries in memory. Before every search it reads the revision of the gallery and what has changed. */
export class GallerySearch {
  readonly #options: GallerySearchOptions;
  readonly #indexes: GalleryIndexes;
  readonly #scans: ScanQueue;

  constructor(options: GallerySearchOptions) {
    this.#options = options;
    this.#scans = new ScanQueue(options.maxWaitMs);
    this.#indexes = new GalleryIndexes(options);
  }

  /** What is in memory. */
  get size(): IndexesSize {
    return this.#indexes.size;
  }

  /**
   * Throws GalleryError, the signal's reason, or what the store throws if it is unavailable for longer than the grace
   * period.
   */
  async search(request: SearchRequest, signal?: AbortSignal): Promise<SearchResult> {
    const { userId, vectors, model, maxResults } = request;
    const { open, isStale } = await this.#openGallery(request.userId, request.galleryId);
    const { gallery, index } = open;
    if (gallery.model !== model)
      throw new GalleryError(
        "modelMismatch",
        `The gallery ${gallery.id} has templates of ${gallery.model} and the face was analysed by ${model}.`,
      );
    const threshold = this.#thresholdFor(gallery, index.faces, request.maxDistance);
    const { revision, faces } = index;
    const scans = vectors.map((vector) => () => index.nearest(vector, maxResults, threshold.distance));
    const found = await this.#scans.runAll(userId, scans, signal);
    // A database that is lost now leaves the people without names.
    const names = isStale ? undefined : await this.#namesOf(gallery, found.flat()).catch(() => undefined);
    return {
      gallery: { model: gallery.model, revision, faces, people: gallery.people },
      threshold,
      matches: found.map((matches) =>
        matches.map((match) => ({ ...match, displayName: names?.get(match.personId) ?? "" })),
      ),
      isStale: names === undefined,
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
      return { open: await this.#indexes.update(name, gallery), isStale: false };
    } catch (error) {
      if (error instanceof GalleryError) {
        if (error.kind === "galleryNotFound") this.#indexes.drop(name);
        throw error;
      }
      const open = this.#indexes.find(name);
      if (!open || performance.now() - open.readAtMs > this.#options.graceMs) throw error;
      return { open, isStale: true };
    }
  }
}
