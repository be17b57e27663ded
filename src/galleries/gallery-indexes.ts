import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { BYTES_PER_FACE, GalleryIndex } from "./gallery-index.ts";
import { type Gallery, GalleryError, type GalleryStore } from "./gallery-store.ts";

/** A gallery with its templates in memory. */
export interface OpenGallery {
  /** As last read. */
  readonly gallery: Gallery;
  readonly index: GalleryIndex;
  /** When the index had all faces of the gallery, by `performance.now()`. */
  readonly readAtMs: number;
}

/** What is in memory. */
export interface IndexesSize {
  readonly galleries: number;
  readonly faces: number;
  readonly bytes: number;
}

/** Options of the indexes in memory. */
export interface GalleryIndexesOptions {
  readonly store: Pick<GalleryStore, "readFaces" | "readChanges">;
  /** Memory of all indexes together. */
  readonly maxBytes: number;
  /** How many indexes are kept, however small they are. 1,000 by default. */
  readonly maxGalleries?: number;
  /** Called when a gallery has been read, with the time that it took. */
  readonly onLoad?: (durationMs: number) => void;
  /** Called when an index has been dropped because its memory was needed. */
  readonly onEviction?: () => void;
}

/** An index costs memory and address space beyond its faces, so that many small galleries are limited too. */
const MAX_GALLERIES = 1_000;

/** Faces in one page when an index is read. */
const PAGE_SIZE = 5_000;

/** A gallery whose index is in memory or about to be. */
interface Entry {
  gallery: Gallery;
  /** Undefined until all faces have been read. */
  index: GalleryIndex | undefined;
  readAtMs: number;
  /** Ends when the last update has ended. */
  updating: Promise<void>;
}

/** An index that is being read. */
interface Load {
  readonly index: GalleryIndex;
  /** The memory that it needs when it is complete. */
  readonly bytes: number;
  readonly ended: Promise<void>;
}

/**
 * The indexes of galleries in memory, by name. An index is read on first use and then follows the changes. The least
 * recently used ones are dropped when the memory is full; a gallery waits for room until others have been read.
 */
export class GalleryIndexes {
  readonly #options: GalleryIndexesOptions;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #loads = new Set<Load>();

  constructor(options: GalleryIndexesOptions) {
    this.#options = options;
  }

  get size(): IndexesSize {
    const indexes = [...this.#entries.values()].flatMap(({ index }) => index ?? []);
    const loads = [...this.#loads];
    return {
      galleries: indexes.length + loads.length,
      faces: sum([...indexes, ...loads.map(({ index }) => index)].map(({ faces }) => faces)),
      bytes: sum([...indexes, ...loads].map(({ bytes }) => bytes)),
    };
  }

  /** Returns a gallery as it was last read; undefined if it is not in memory. */
  find(name: string): OpenGallery | undefined {
    const entry = this.#entries.get(name);
    return entry?.index && (entry as OpenGallery);
  }

  /** Drops a gallery that no longer exists. */
  drop(name: string): void {
    this.#entries.delete(name);
  }

  /**
   * Returns a gallery at this revision or a later one. Updates of one gallery run one after another. Throws GalleryError
   * if the gallery is larger than the memory, and what the store throws.
   */
  async update(name: string, gallery: Gallery): Promise<OpenGallery> {
    this.#requireSmall(name, gallery);
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
    if (gallery.revision >= entry.gallery.revision) entry.gallery = gallery;
    entry.readAtMs = performance.now();
    return entry as OpenGallery;
  }

  /** Returns the entry of a gallery, which becomes the most recently used one. */
  #entryOf(name: string, gallery: Gallery): Entry {
    const existing = this.#entries.get(name);
    const entry =
      existing?.gallery.key === gallery.key
        ? existing
        : { gallery, index: undefined, readAtMs: 0, updating: Promise.resolve() };
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    return entry;
  }

  async #bringUpToDate(entry: Entry, gallery: Gallery): Promise<void> {
    if (entry.index && entry.index.revision >= gallery.revision) return;
    entry.index ??= await this.#load(gallery);
    while (entry.index.revision < gallery.revision) {
      const changes = await this.#options.store.readChanges(gallery, entry.index.revision);
      if (changes) entry.index.apply(changes);
      else {
        entry.index = undefined;
        entry.index = await this.#load(gallery);
      }
    }
    this.#evictUntilRoomFor(0);
  }

  /** Reads an index when there is room for it. */
  async #load(gallery: Gallery): Promise<GalleryIndex> {
    const bytes = gallery.faces * BYTES_PER_FACE;
    while (!this.#evictUntilRoomFor(bytes, 1)) await Promise.race([...this.#loads].map(({ ended }) => ended));
    const startMs = performance.now();
    const index = new GalleryIndex(gallery.revision);
    const loading = this.#readAll(gallery, index);
    const load = { index, bytes, ended: loading.catch(() => {}) };
    this.#loads.add(load);
    try {
      await loading;
    } finally {
      this.#loads.delete(load);
    }
    this.#options.onLoad?.(performance.now() - startMs);
    return index;
  }

  #requireSmall(name: string, { faces }: Gallery): void {
    const maxFaces = Math.floor(this.#options.maxBytes / BYTES_PER_FACE);
    if (faces <= maxFaces) return;
    this.drop(name);
    throw new GalleryError(
      "galleryTooLarge",
      `The gallery has ${faces} faces and the memory for galleries holds ${maxFaces}.`,
    );
  }

  async #readAll({ key }: Gallery, index: GalleryIndex): Promise<void> {
    const { store } = this.#options;
    for (let page = await store.readFaces(key, { size: PAGE_SIZE }); page.length > 0; ) {
      for (const face of page) index.add(face);
      // SQLite returns its rows at once, and other galleries are searched meanwhile.
      await yieldToEventLoop();
      page =
        page.length < PAGE_SIZE ? [] : await store.readFaces(key, { after: page.at(-1), size: PAGE_SIZE });
    }
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
