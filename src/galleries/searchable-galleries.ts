import type { Gallery } from "./gallery-store.ts";
import type { Scan } from "./stored-faces.ts";

/** A gallery whose templates can be searched. */
export interface OpenGallery {
  /** As last read. */
  readonly gallery: Gallery;
  /** The number of faces that are searched, and the revision of the gallery that has them. */
  readonly faces: number;
  readonly revision: number;
  /** When all faces of the gallery could be searched, by `performance.now()`. */
  readonly readAtMs: number;
  /** Finds the candidates for each query. `caller` is served in turn with others. */
  scan(caller: string, queries: readonly Query[], signal: AbortSignal | undefined): Promise<Scan[]>;
}

/** What to look for. */
export interface Query {
  readonly embedding: Float32Array;
  /** Maximum number of people. */
  readonly maxPeople: number;
  /** The largest distance. */
  readonly within: number;
}

/** How many galleries can be searched at once, and the memory of this process for them. */
export interface IndexesSize {
  readonly galleries: number;
  readonly faces: number;
  readonly bytes: number;
}

/**
 * The galleries that can be searched, by the name that ends with the id of the gallery: in memory, or in an engine. A
 * gallery is read on first use and then follows the changes.
 */
export interface SearchableGalleries {
  readonly size: IndexesSize;
  /** Returns a gallery as it was last read; undefined if it was not. The name may have the alias as its id. */
  find(name: string): OpenGallery | undefined;
  /** Whether there is room for a gallery without dropping another one. */
  hasRoomFor(gallery: Gallery): boolean;
  /** Whether a search of a gallery has to wait until it is read. */
  isLoading(name: string): boolean;
  /** Estimates how long a gallery is still being read; undefined if that is not known. */
  estimateRemainingMs(name: string): number | undefined;
  /** Drops a gallery that no longer exists. */
  drop(name: string): void;
  /**
   * Returns a gallery at this version or a later one. Throws GalleryError if the gallery cannot be searched, EngineError,
   * and what the store throws.
   */
  update(name: string, gallery: Gallery): Promise<OpenGallery>;
}

/** Finds a gallery among others by its name, which may have the alias as its id. */
export function findByName<Entry extends { readonly gallery: Gallery }>(
  entries: ReadonlyMap<string, Entry>,
  name: string,
): Entry | undefined {
  const hasAlias = ([own, { gallery }]: readonly [string, Entry]) =>
    gallery.alias !== undefined && own.slice(0, -gallery.id.length) + gallery.alias === name;
  return entries.get(name) ?? [...entries].findLast(hasAlias)?.[1];
}

/**
 * Why the engine that has the templates did not do what was asked: it refused that, it cannot be reached, or it did not
 * answer in time and may still do it.
 */
export type EngineErrorKind = "refused" | "unreachable" | "timeout";

/** The engine that has the templates failed. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly kind: EngineErrorKind;

  constructor(kind: EngineErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
