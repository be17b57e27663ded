import { setTimeout as sleep } from "node:timers/promises";
import type { FalseMatchRates, Population } from "../core/index.ts";
import { nearestPeople, type PersonMatch } from "./gallery-index.ts";
import { type Gallery, GalleryError, type GalleryStore } from "./gallery-store.ts";
import {
  describeDistance,
  type GalleryThreshold,
  type OverallThreshold,
  overallThreshold,
  thresholdForSize,
} from "./gallery-threshold.ts";
import {
  EngineError,
  type IndexesSize,
  type OpenGallery,
  type SearchableGalleries,
} from "./searchable-galleries.ts";
import { isOutdated, readStoredFaces, type Scan, type StoredFaces, withStored } from "./stored-faces.ts";
import { rethrowTemplateError } from "./template-cipher.ts";

/** Who to look for. */
export interface SearchRequest {
  readonly userId: string;
  readonly galleryId: string;
  /** The faces to identify. */
  readonly probes: readonly Probe[];
  /** The model that made the embeddings. */
  readonly model: string;
  /** Maximum number of people for each probe. */
  readonly maxResults: number;
  /** The user's own threshold; otherwise that of the gallery, or one that fits its size. */
  readonly maxDistance: number | undefined;
  /** Whether that may not be above the threshold that is used without it. False by default. */
  readonly isWithinThreshold?: boolean | undefined;
  /** How long the caller waits for the result. No limit by default. */
  readonly timeoutMs?: number;
}

/** A face to identify. */
export interface Probe {
  readonly embedding: Float32Array;
  /** The populations to which it may belong. */
  readonly populations: readonly Population[];
}

/** Who was found. */
export interface SearchResult {
  readonly gallery: Pick<Gallery, "model" | "revision" | "faces" | "people">;
  /** Of all probes; for adults if there are none. */
  readonly threshold: OverallThreshold;
  /** For each probe. */
  readonly faces: readonly IdentifiedFace[];
  /** Whether the database could not be reached, so that recent changes may be missing. */
  readonly isStale: boolean;
}

/** The people whom a probe resembles. */
export interface IdentifiedFace {
  readonly threshold: GalleryThreshold;
  /** The people within the threshold, the nearest first. */
  readonly matches: readonly NamedMatch[];
}

/** A person who was found. */
export interface NamedMatch extends PersonMatch {
  /** Empty if the person has no name or the database could not be reached. */
  readonly displayName: string;
}

/** Options of a search engine. */
export interface GallerySearchOptions {
  readonly store: GalleryStore;
  readonly indexes: SearchableGalleries;
  readonly rates: FalseMatchRates;
  /** Of the previous model. */
  readonly previousRates?: FalseMatchRates | undefined;
  /** How long a gallery is searched without the database, since it was last read. */
  readonly graceMs: number;
  /** Whether searched galleries are marked, so that `preload` finds them after a restart. False by default. */
  readonly marksSearched?: boolean | undefined;
}

/** A search is repeated if faces that it found have changed since, but not for ever. */
const MAX_ATTEMPTS = 3;
/** A response is sent so long before the caller gives up, or after three quarters of its timeout. */
const MAX_RESPONSE_MS = 500;
/** A gallery is marked as searched no more often than this, because it is a write. */
const MARK_INTERVAL_MS = 3_600_000;
/** How often a search that waits for a gallery estimates whether it will be read in time. */
const ESTIMATE_INTERVAL_MS = 250;

/** The name under which a gallery is searched. */
const nameOf = (userId: string, galleryId: string) => `${userId} ${galleryId}`;

/** Searches galleries. Before every search it reads the revision of the gallery and what has changed. */
export class GallerySearch {
  readonly #options: GallerySearchOptions;
  readonly #indexes: SearchableGalleries;
  /** The keys of galleries that are being marked as searched. */
  readonly #marking = new Set<string>();

  constructor(options: GallerySearchOptions) {
    this.#options = options;
    this.#indexes = options.indexes;
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
    for (let attempt = 1; ; attempt++) {
      const { open, isStale } = await this.#openGallery(request);
      const { gallery } = open;
      requireModel(gallery, request.model);
      const thresholdOf = (populations: readonly Population[]) =>
        this.#thresholdFor(gallery, open.faces, populations, request);
      const thresholds = request.probes.map(({ populations }) => thresholdOf(populations));
      const scans = await this.#scan(open, request, thresholds, signal);
      // A database that is lost now leaves the people without names, and the distances rounded.
      const stored = isStale ? undefined : await this.#readStored(gallery, scans).catch(rethrowTemplateError);
      if (stored && attempt < MAX_ATTEMPTS && scans.some((scan) => isOutdated(scan, stored))) continue;
      const { model, people } = gallery;
      if (stored) this.#markSearched(gallery);
      return {
        gallery: { model, people, revision: open.revision, faces: open.faces },
        threshold: overallThreshold(thresholds.length > 0 ? thresholds : [thresholdOf(["adults"])]),
        faces: scans.map((scan, i) => ({
          threshold: thresholds[i]!,
          matches: this.#matchesOf(scan, stored, request.maxResults, thresholds[i]!.distance),
        })),
        isStale: stored === undefined,
      };
    }
  }

  /** Loads the `count` galleries that were searched last, as far as there is room. */
  async preload(count: number): Promise<void> {
    for (const { userId, gallery } of await this.#options.store.listSearched(count)) {
      if (!this.#indexes.hasRoomFor(gallery)) return;
      await this.#indexes.update(nameOf(userId, gallery.id), gallery);
    }
  }

  #markSearched({ key, lastSearchedAt }: Gallery): void {
    const isRecent = lastSearchedAt !== undefined && Date.now() - lastSearchedAt.getTime() < MARK_INTERVAL_MS;
    if (!this.#options.marksSearched || isRecent || this.#marking.has(key)) return;
    this.#marking.add(key);
    this.#options.store
      .markSearched(key)
      // The next search tries again.
      .catch(() => {})
      .finally(() => this.#marking.delete(key));
  }

  #scan(
    open: OpenGallery,
    { userId, probes, maxResults }: SearchRequest,
    thresholds: readonly GalleryThreshold[],
    signal: AbortSignal | undefined,
  ): Promise<Scan[]> {
    const queries = probes.map(({ embedding }, i) => ({
      embedding,
      maxPeople: maxResults,
      within: thresholds[i]!.distance,
    }));
    return open.scan(userId, queries, signal);
  }

  #readStored({ key }: Gallery, scans: readonly Scan[]): Promise<StoredFaces> {
    return readStoredFaces(this.#options.store, key, scans);
  }

  #matchesOf(scan: Scan, stored: StoredFaces | undefined, maxResults: number, within: number): NamedMatch[] {
    const faces = stored
      ? withStored(scan, stored)
      : scan.candidates.map((candidate) => ({ ...candidate, displayName: "" }));
    return nearestPeople(faces, maxResults, within);
  }

  #thresholdFor(
    gallery: Gallery,
    faces: number,
    populations: readonly Population[],
    { maxDistance = gallery.maxDistance, isWithinThreshold }: Partial<SearchRequest>,
  ): GalleryThreshold {
    if (isWithinThreshold && maxDistance !== undefined) {
      const { distance } = this.#thresholdFor(gallery, faces, populations, {});
      // A caller may send the threshold of a response, which has single precision.
      if (maxDistance > Math.fround(distance))
        throw new GalleryError("distanceTooWide", "max_distance is above the threshold of the gallery.");
    }
    const { previousRates } = this.#options;
    const rates = previousRates?.model === gallery.model ? previousRates : this.#options.rates;
    return maxDistance === undefined
      ? thresholdForSize(faces, rates, populations)
      : describeDistance(maxDistance, faces, rates, populations);
  }

  /** Opens a gallery at its current version, or at the last known one while the store is unavailable. */
  async #openGallery(
    request: SearchRequest,
  ): Promise<{ readonly open: OpenGallery; readonly isStale: boolean }> {
    const { userId, galleryId, timeoutMs } = request;
    let found: Gallery | undefined;
    try {
      found = await this.#options.store.getGallery(userId, galleryId);
      const name = nameOf(userId, found.id);
      const open = await this.#waitFor(name, this.#indexes.update(name, found), timeoutMs);
      return { open, isStale: false };
    } catch (error) {
      rethrowTemplateError(error);
      if (error instanceof EngineError) throw error;
      if (error instanceof GalleryError) {
        if (error.kind !== "galleryNotFound") throw error;
        this.#indexes.drop(nameOf(userId, galleryId));
        // It was deleted after it was found. Another one may have replaced it.
        if (found) return this.#openGallery(request);
        throw error;
      }
      const open = this.#indexes.find(nameOf(userId, galleryId));
      if (!open || performance.now() - open.readAtMs > this.#options.graceMs) throw error;
      return { open, isStale: true };
    }
  }

  /** Waits until a gallery is read. Throws GalleryError `galleryLoading` if that takes too long for the caller. */
  async #waitFor(
    name: string,
    update: Promise<OpenGallery>,
    timeoutMs = Number.POSITIVE_INFINITY,
  ): Promise<OpenGallery> {
    if (!this.#indexes.isLoading(name)) return update;
    const endMs = performance.now() + timeoutMs - Math.min(MAX_RESPONSE_MS, timeoutMs / 4);
    const timer = new AbortController();
    const watch = async (): Promise<never> => {
      for (;;) {
        const leftMs = endMs - performance.now();
        await sleep(Math.max(1, Math.min(leftMs, ESTIMATE_INTERVAL_MS)), undefined, timer);
        const remainingMs = this.#indexes.estimateRemainingMs(name);
        if (this.#indexes.isLoading(name) && performance.now() + (remainingMs ?? 0) > endMs)
          throw new GalleryError("galleryLoading", "The gallery is being read.", remainingMs);
      }
    };
    try {
      return await Promise.race([update, watch()]);
    } finally {
      timer.abort();
      // It goes on for the searches that follow.
      update.catch(() => {});
    }
  }
}

function requireModel({ id, model }: Gallery, expected: string): void {
  if (model !== expected)
    throw new GalleryError(
      "modelMismatch",
      `The gallery ${id} has templates of ${model} and the face was analysed by ${expected}. Migrate it or start the service with the networks of both.`,
    );
}
