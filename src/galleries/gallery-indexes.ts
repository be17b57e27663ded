import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { estimateBytes, GalleryIndex } from "./gallery-index.ts";
import { type Gallery, GalleryError, type GalleryStore, type ReloadCause } from "./gallery-store.ts";
import { ScanQueue } from "./scan-queue.ts";
import {
  findByName,
  type IndexesSize,
  type OpenGallery,
  type Query,
  type SearchableGalleries,
} from "./searchable-galleries.ts";
import type { Scan } from "./stored-faces.ts";

/** How the reading of a gallery ended. */
export type LoadOutcome = "ok" | "failed";

/** Options of the indexes in memory. */
export interface GalleryIndexesOptions {
  readonly store: Pick<GalleryStore, "readChanges">;
  /** Memory of all indexes together. */
  readonly maxBytes: number;
  /** How long a search may wait for others. */
  readonly maxWaitMs: number;
  /** How many indexes are kept, however small they are. 1,000 by default. */
  readonly maxGalleries?: number;
  /** Called when a gallery has been read or could not be read, with the time that it took. */
  readonly onLoad?: (outcome: LoadOutcome, durationMs: number) => void;
  /** Called when a gallery in memory has to be read again. */
  readonly onReload?: (galleryId: string, cause: ReloadCause) => void;
  /** Called when an index has been dropped because its memory was needed. */
  readonly onEviction?: () => void;
}

/** An index costs memory and address space beyond its faces, so that many small galleries are limited too. */
const MAX_GALLERIES = 1_000;

/** A gallery whose index is in memory or about to be. */
interface Entry {
  gallery: Gallery;
  /** Undefined until all faces have been read. */
  index: GalleryIndex | undefined;
  /** Set while the index is read. */
  load: Load | undefined;
  readAtMs: number;
  /** Ends when the last update has ended. */
  updating: Promise<void>;
}

/** An index that is being read. */
interface Load {
  readonly index: GalleryIndex;
  /** Number of faces that it will have, about. */
  readonly faces: number;
  readonly startMs: number;
  /** The memory that it needs when it is complete, about. */
  readonly estimatedBytes: number;
  readonly ended: Promise<void>;
}

/**
 * The indexes of galleries in memory. The least recently used ones are dropped when the memory is full; a gallery waits
 * for room until others have been read.
 */
export class GalleryIndexes implements SearchableGalleries {
  readonly #options: GalleryIndexesOptions;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #loads = new Set<Load>();
  readonly #scans: ScanQueue;

  constructor(options: GalleryIndexesOptions) {
    this.#options = options;
    this.#scans = new ScanQueue(options.maxWaitMs);
  }

  get size(): IndexesSize {
    const complete = [...this.#entries.values()].flatMap(({ index }) => index ?? []);
    const loads = [...this.#loads];
    const indexes = [...complete, ...loads.map(({ index }) => index)];
    const reserved = loads.map(({ index, estimatedBytes }) => Math.max(0, estimatedBytes - index.bytes));
    return {
      galleries: indexes.length,
      faces: sum(indexes.map(({ faces }) => faces)),
      bytes: sum([...indexes.map(({ bytes }) => bytes), ...reserved]),
    };
  }

  find(name: string): OpenGallery | undefined {
    const entry = findByName(this.#entries, name);
    return entry?.index && this.#open(entry, entry.index);
  }

  hasRoomFor({ faces }: Gallery): boolean {
    return this.size.bytes + estimateBytes(faces) <= this.#options.maxBytes;
  }

  isLoading(name: string): boolean {
    const entry = this.#entries.get(name);
    return entry !== undefined && !entry.index;
  }

  estimateRemainingMs(name: string): number | undefined {
    const load = this.#entries.get(name)?.load;
    if (!load || load.index.faces === 0) return undefined;
    const elapsedMs = performance.now() - load.startMs;
    return (elapsedMs * Math.max(0, load.faces - load.index.faces)) / load.index.faces;
  }

  drop(name: string): void {
    this.#entries.delete(name);
  }

  /** Updates of one gallery run one after another. Throws GalleryError if the gallery is larger than the memory. */
  async update(name: string, gallery: Gallery): Promise<OpenGallery> {
    const entry = this.#entryOf(name, gallery);
    // An update that failed leaves the work to the next one.
    const updating = entry.updating.catch(() => {}).then(() => this.#bringUpToDate(entry, gallery));
    entry.updating = updating;
    try {
      await updating;
    } catch (error) {
      const isLast = entry.updating === updating && this.#entries.get(name) === entry;
      if (!entry.index && isLast) this.#entries.delete(name);
      throw error;
    }
    const index = entry.index!;
    if (index.isAt(gallery) || gallery.revision > entry.gallery.revision) entry.gallery = gallery;
    entry.readAtMs = performance.now();
    return this.#open({ gallery, readAtMs: entry.readAtMs }, index);
  }

  #open({ gallery, readAtMs }: Pick<Entry, "gallery" | "readAtMs">, index: GalleryIndex): OpenGallery {
    return {
      gallery,
      readAtMs,
      get faces() {
        return index.faces;
      },
      get revision() {
        return index.until;
      },
      scan: (caller, queries, signal) => this.#scan(index, caller, queries, signal),
    };
  }

  #scan(
    index: GalleryIndex,
    caller: string,
    queries: readonly Query[],
    signal: AbortSignal | undefined,
  ): Promise<Scan[]> {
    const scans = queries.map(({ embedding, maxPeople, within }) => () => ({
      embedding,
      candidates: index.findCandidates(embedding, maxPeople, within),
      revision: index.until,
    }));
    return this.#scans.runAll(caller, scans, signal);
  }

  /** Returns the entry of a gallery, which becomes the most recently used one. */
  #entryOf(name: string, gallery: Gallery): Entry {
    const existing = this.#entries.get(name);
    const entry =
      existing?.gallery.key === gallery.key
        ? existing
        : { gallery, index: undefined, load: undefined, readAtMs: 0, updating: Promise.resolve() };
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    return entry;
  }

  async #bringUpToDate(entry: Entry, gallery: Gallery): Promise<void> {
    if (entry.index?.isAt(gallery)) return;
    if (entry.index) await this.#follow(entry, entry.index, gallery);
    entry.index ??= await this.#load(entry, gallery);
    this.#evictUntilRoomFor(0);
  }

  /** Updates an index, or drops it if that is not possible. */
  async #follow(entry: Entry, index: GalleryIndex, gallery: Gallery): Promise<void> {
    try {
      const cause = await this.#readChanges(gallery, index);
      if (!cause) return;
      this.#options.onReload?.(gallery.id, cause);
    } catch (error) {
      // Without the database, the index is searched as it is.
      if (!(error instanceof GalleryError)) throw error;
      entry.index = undefined;
      throw error;
    }
    entry.index = undefined;
  }

  /** Reads an index when there is room for it. */
  async #load(entry: Entry, gallery: Gallery): Promise<GalleryIndex> {
    const estimatedBytes = estimateBytes(gallery.faces);
    this.#requireRoom(estimatedBytes, gallery);
    while (!this.#evictUntilRoomFor(estimatedBytes, 1))
      await Promise.race([...this.#loads].map(({ ended }) => ended));
    const startMs = performance.now();
    const index = new GalleryIndex(gallery.key);
    const loading = this.#readChanges(gallery, index);
    const load = {
      index,
      faces: gallery.faces,
      startMs,
      estimatedBytes,
      ended: loading.then(ignore, ignore),
    };
    this.#loads.add(load);
    entry.load = load;
    let outcome: LoadOutcome = "failed";
    try {
      if (await loading) throw new Error("The database was restored while a gallery was read.");
      outcome = "ok";
      return index;
    } finally {
      this.#loads.delete(load);
      entry.load = undefined;
      this.#options.onLoad?.(outcome, performance.now() - startMs);
    }
  }

  /** Reads what an index does not have yet. Returns why that is not possible; undefined if it was. */
  async #readChanges(gallery: Gallery, index: GalleryIndex): Promise<ReloadCause | undefined> {
    for (;;) {
      const changes = await this.#options.store.readChanges(gallery.key, index);
      if (typeof changes === "string") return changes;
      const isLast = index.apply(changes);
      // Long ids need more memory than the estimate has.
      this.#requireRoom(index.bytes, gallery);
      if (isLast) return undefined;
      this.#evictUntilRoomFor(0);
      // SQLite returns its rows at once, and other galleries are searched meanwhile.
      await yieldToEventLoop();
    }
  }

  #requireRoom(bytes: number, { faces }: Gallery): void {
    const { maxBytes } = this.#options;
    if (bytes <= maxBytes) return;
    throw new GalleryError(
      "galleryTooLarge",
      `The ${faces} faces of the gallery do not fit into the ${maxBytes} bytes of memory for galleries.`,
    );
  }

  /** Drops the least recently used indexes until there is room. Returns false if those in progress leave too little. */
  #evictUntilRoomFor(neededBytes: number, neededGalleries = 0): boolean {
    const { maxBytes, maxGalleries = MAX_GALLERIES, onEviction } = this.#options;
    let { bytes, galleries } = this.size;
    const hasRoom = () => bytes + neededBytes <= maxBytes && galleries + neededGalleries <= maxGalleries;
    for (const [name, { index }] of this.#entries) {
      if (hasRoom()) return true;
      if (!index) continue;
      this.#entries.delete(name);
      bytes -= index.bytes;
      galleries--;
      onEviction?.();
    }
    return hasRoom();
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function ignore(): void {}
