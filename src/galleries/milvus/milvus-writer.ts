import { setTimeout as sleep } from "node:timers/promises";
import { DIMENSIONS } from "../../search/assembly/constants.ts";
import { type Gallery, GalleryError, type GalleryStore, type ReloadCause } from "../gallery-store.ts";
import { EngineError } from "../searchable-galleries.ts";
import type { EngineGalleries } from "./engine-galleries.ts";
import {
  type GalleryRows,
  type MilvusProgress,
  type MilvusTemplates,
  NO_PROGRESS,
} from "./milvus-templates.ts";

/** A gallery that is being written. */
interface Load {
  readonly startMs: number;
  /** Number of faces that have been written. */
  faces: number;
}

/** How often a process tries to take a lease. */
const LEASE_POLL_MS = 100;
/** Galleries that are listed at once. */
const PAGE_SIZE = 100;
/** Pages of one gallery, before it is the turn of the others again: about 50,000 faces. */
const PAGES_OF_TURN = 20;

/** Options of a writer. */
export interface MilvusWriterOptions {
  readonly store: Pick<GalleryStore, "readChanges">;
  readonly templates: MilvusTemplates;
  readonly engineGalleries: EngineGalleries;
  /** Called when a gallery has to be written from the start. */
  readonly onReload?: ((galleryId: string, cause: ReloadCause) => void) | undefined;
  /** Called after a page of faces has been written. */
  readonly onPage?: ((galleryKey: string, faces: number) => void) | undefined;
}

/**
 * Brings Milvus to the state of the database. The changes of a gallery that its indexes in memory follow
 * (`GalleryStore.readChanges`) are the outbox: a transaction that changes a gallery also writes them. Milvus has, beside
 * the templates, the progress up to which it has them, which is written after each page. So whoever comes next goes on
 * where a process was killed, and writes at most one page again, which changes nothing. A lease in the database lets one
 * process at a time write a gallery: otherwise an old page could bring back a template that has been deleted.
 */
export class MilvusWriter {
  readonly #options: MilvusWriterOptions;
  /** The galleries that are being written from the start, by their keys. */
  readonly #loads = new Map<string, Load>();

  constructor(options: MilvusWriterOptions) {
    this.#options = options;
  }

  /**
   * Writes what is missing of a gallery, when no other process does. Returns what Milvus has then, which is the version of
   * the gallery or a later one. Throws GalleryError if the gallery has been deleted, EngineError, and what the store
   * throws.
   */
  follow(gallery: Gallery): Promise<MilvusProgress> {
    return this.hold(gallery, async (progress) => progress);
  }

  /** Writes what is missing of a gallery, and runs work while no process writes it. The work must call `renew` in time. */
  async hold<T>(
    gallery: Gallery,
    work: (progress: MilvusProgress, renew: () => Promise<void>) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      const held = await this.#withLease(gallery, () => this.#writeChanges(gallery, work));
      if (held) return held.result;
      await sleep(LEASE_POLL_MS);
    }
  }

  /** Estimates how long a gallery is still being written from the start, if it is. */
  estimateRemainingMs({ key, faces }: Gallery): number | undefined {
    const load = this.#loads.get(key);
    if (!load || load.faces === 0) return undefined;
    return ((performance.now() - load.startMs) * Math.max(0, faces - load.faces)) / load.faces;
  }

  /**
   * Writes what is missing of all galleries, and deletes what belongs to deleted ones. Leaves out those that another
   * process writes, and the rest of large ones. One that fails does not stop the others.
   */
  async followAll(signal: AbortSignal): Promise<void> {
    const { engineGalleries } = this.#options;
    await this.#runEach(
      (count) => engineGalleries.listDeleted(count),
      (rows) => this.#withLease(rows, () => this.#delete(rows)),
      signal,
    );
    await this.#runEach(
      (count) => engineGalleries.listOutdated(count),
      (gallery) => this.#withLease(gallery, () => this.#writeChanges(gallery, async () => {}, PAGES_OF_TURN)),
      signal,
    );
  }

  /** Runs work for all galleries of a list, which gets shorter by that. */
  async #runEach<Item extends GalleryRows>(
    list: (count: number) => Promise<readonly Item[]>,
    work: (item: Item) => Promise<unknown>,
    signal: AbortSignal,
  ): Promise<void> {
    const seen = new Set<string>();
    let failure: unknown;
    while (!signal.aborted) {
      const items = (await list(PAGE_SIZE + seen.size)).filter(({ key }) => !seen.has(key));
      if (items.length === 0) break;
      for (const item of items) {
        if (signal.aborted) return;
        seen.add(item.key);
        await work(item).catch((error: unknown) => {
          // Otherwise it has been deleted meanwhile.
          if (!(error instanceof GalleryError)) failure = error;
        });
        // The others would fail as well, each after a while.
        if (failure instanceof EngineError && failure.kind !== "refused") throw failure;
      }
    }
    if (failure) throw failure;
  }

  /** Runs work that writes a gallery. Returns undefined if another process has the lease. */
  async #withLease<T>(rows: GalleryRows, work: () => Promise<T>): Promise<T | undefined> {
    const { engineGalleries } = this.#options;
    if (!(await engineGalleries.acquire(rows))) return undefined;
    try {
      return await work();
    } catch (error) {
      // What Milvus has not answered in time it may still do. Until then, the lease keeps others from writing.
      const mayBeRunning = error instanceof EngineError && error.kind === "timeout";
      // If that fails as well, the lease expires.
      if (!mayBeRunning) await engineGalleries.release(rows.key).catch(() => {});
      throw error;
    } finally {
      this.#loads.delete(rows.key);
    }
  }

  /** Writes what is missing, runs work, and ends the lease. Returns undefined if `maxPages` are not enough. */
  async #writeChanges<T>(
    gallery: Gallery,
    work: (progress: MilvusProgress, renew: () => Promise<void>) => Promise<T>,
    maxPages = Number.POSITIVE_INFINITY,
  ): Promise<{ readonly result: T } | undefined> {
    const { templates, engineGalleries, onReload, onPage } = this.#options;
    const { key, model } = gallery;
    const renew = () => engineGalleries.renew(key);
    await templates.prepare(model);
    let progress = (await templates.readProgress(model, [key])).get(key) ?? NO_PROGRESS;
    for (let page = 1; ; page++) {
      const changes = await this.#readChanges(gallery, progress);
      if (typeof changes === "string") {
        onReload?.(gallery.id, changes);
        progress = NO_PROGRESS;
        continue;
      }
      const { until, version } = changes;
      if (progress.until !== until || progress.version?.token !== version.token) {
        if (progress === NO_PROGRESS) {
          await templates.deleteGallery(gallery, renew);
          this.#loads.set(key, { startMs: performance.now(), faces: 0 });
        }
        const timestamp = await templates.apply(gallery, changes, renew);
        progress = { until, version, timestamp: latest(timestamp, progress.timestamp) };
        await renew();
        await templates.writeProgress(gallery, progress);
        const faces = changes.added.embeddings.length / DIMENSIONS;
        const load = this.#loads.get(key);
        if (load) load.faces += faces;
        onPage?.(key, faces);
      }
      if (until === version.revision) {
        const result = await work(progress, renew);
        await engineGalleries.release(key, version);
        return { result };
      }
      if (page < maxPages) continue;
      await engineGalleries.release(key);
      return undefined;
    }
  }

  /** Reads a page of changes. If the gallery has been deleted, so is what Milvus has of it. */
  async #readChanges(gallery: Gallery, progress: MilvusProgress) {
    try {
      return await this.#options.store.readChanges(gallery.key, progress);
    } catch (error) {
      if (error instanceof GalleryError) await this.#delete(gallery);
      throw error;
    }
  }

  async #delete(rows: GalleryRows): Promise<void> {
    const { templates, engineGalleries } = this.#options;
    await templates.prepare(rows.model);
    await templates.deleteGallery(rows, () => engineGalleries.renew(rows.key));
    await engineGalleries.remove(rows.key);
  }
}

function latest(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
