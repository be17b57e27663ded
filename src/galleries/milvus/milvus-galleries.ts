import { candidatesFrom } from "../gallery-index.ts";
import { type Gallery, type GalleryVersion, MAX_FACES_PER_PERSON } from "../gallery-store.ts";
import {
  EngineError,
  findByName,
  type IndexesSize,
  type OpenGallery,
  type Query,
  type SearchableGalleries,
} from "../searchable-galleries.ts";
import type { Scan } from "../stored-faces.ts";
import type { MilvusProgress, MilvusTemplates } from "./milvus-templates.ts";
import type { MilvusWriter } from "./milvus-writer.ts";

/** Galleries whose progress is remembered. The others cost one more request. */
const MAX_GALLERIES = 10_000;
/** Galleries of which one request reads the progress. */
const PROGRESS_AT_ONCE = 500;
/**
 * Milvus returns squares in 32 bits, which may be computed as a difference. So the distance of two equal templates may
 * seem to be this. Larger ones are off by less.
 */
const MAX_ERROR = 0.002;

interface Entry {
  gallery: Gallery;
  /** What Milvus is known to have; undefined if that is not known. */
  progress: MilvusProgress | undefined;
  readAtMs: number;
  /** The last update, until it has ended. */
  update: Update | undefined;
}

/** The writing of what Milvus lacks of a gallery. */
interface Update {
  /** Of the version of the gallery. */
  readonly token: string;
  readonly result: Promise<MilvusProgress>;
}

/** The galleries whose templates are searched by Milvus. Nothing of them is in memory but how much Milvus has. */
export class MilvusGalleries implements SearchableGalleries {
  readonly #templates: MilvusTemplates;
  readonly #writer: MilvusWriter;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>();
  /** Whether Milvus has failed since the last check: it may be another one now. */
  #isDoubtful = false;
  #verifying: Promise<void> | undefined;

  constructor(templates: MilvusTemplates, writer: MilvusWriter) {
    this.#templates = templates;
    this.#writer = writer;
  }

  get size(): IndexesSize {
    const galleries = [...this.#entries.values()].map(({ gallery }) => gallery);
    const faces = galleries.reduce((sum, gallery) => sum + gallery.faces, 0);
    return { galleries: galleries.length, faces, bytes: 0 };
  }

  find(name: string): OpenGallery | undefined {
    const entry = findByName(this.#entries, name);
    return entry?.progress && this.#open(entry, entry.progress);
  }

  hasRoomFor(): boolean {
    return true;
  }

  isLoading(name: string): boolean {
    return this.#entries.get(name)?.update !== undefined;
  }

  estimateRemainingMs(name: string): number | undefined {
    const gallery = this.#entries.get(name)?.gallery;
    return gallery && this.#writer.estimateRemainingMs(gallery);
  }

  drop(name: string): void {
    this.#entries.delete(name);
  }

  async update(name: string, gallery: Gallery): Promise<OpenGallery> {
    const entry = this.#entryOf(name, gallery);
    const updating = entry.update?.token === gallery.token ? entry.update : this.#startUpdate(entry, gallery);
    const progress = await updating.result;
    if (isAt(progress, gallery) || gallery.revision > entry.gallery.revision) entry.gallery = gallery;
    entry.readAtMs = performance.now();
    return this.#open({ gallery, readAtMs: entry.readAtMs }, progress);
  }

  /** Starts an update, after the one that is running. All searches of the same version wait for one. */
  #startUpdate(entry: Entry, gallery: Gallery): Update {
    const result = ignoreFailure(entry.update?.result).then(async () => {
      if (this.#isDoubtful) await this.verify();
      if (!isAt(entry.progress, gallery)) entry.progress = await this.#writer.follow(gallery);
      return entry.progress;
    });
    const update = { token: gallery.token, result };
    entry.update = update;
    const end = () => {
      if (entry.update === update) entry.update = undefined;
    };
    result.then(end, end);
    return update;
  }

  /**
   * Forgets what Milvus no longer has, as after it was restored or made anew. Another replica may also have written more
   * since. The next search reads the progress again.
   */
  verify(): Promise<void> {
    this.#verifying ??= this.#verifyAll().finally(() => {
      this.#verifying = undefined;
    });
    return this.#verifying;
  }

  async #verifyAll(): Promise<void> {
    const entries = [...this.#entries.values()].filter(({ progress }) => progress);
    for (const model of new Set(entries.map(({ gallery }) => gallery.model))) {
      await this.#templates.prepareAgain(model);
      const own = entries.filter(({ gallery }) => gallery.model === model);
      for (let start = 0; start < own.length; start += PROGRESS_AT_ONCE) {
        const some = own.slice(start, start + PROGRESS_AT_ONCE);
        const keys = some.map(({ gallery }) => gallery.key);
        const found = await this.#templates.readProgress(model, keys);
        for (const entry of some) {
          const version = found.get(entry.gallery.key)?.version;
          if (!version || !isAt(entry.progress, version)) entry.progress = undefined;
        }
      }
    }
    this.#isDoubtful = false;
  }

  #entryOf(name: string, gallery: Gallery): Entry {
    const existing = this.#entries.get(name);
    const entry =
      existing?.gallery.key === gallery.key
        ? existing
        : { gallery, progress: undefined, readAtMs: 0, update: undefined };
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    if (this.#entries.size > MAX_GALLERIES) this.#entries.delete(this.#entries.keys().next().value!);
    return entry;
  }

  #open({ gallery, readAtMs }: Pick<Entry, "gallery" | "readAtMs">, progress: MilvusProgress): OpenGallery {
    return {
      gallery,
      readAtMs,
      faces: gallery.faces,
      // Milvus may have a later one. Faces of it count as changed, and the search is repeated.
      revision: gallery.revision,
      scan: (_caller, queries, signal) => this.#scan(gallery, progress, queries, signal),
    };
  }

  async #scan(
    gallery: Gallery,
    { timestamp }: MilvusProgress,
    queries: readonly Query[],
    signal: AbortSignal | undefined,
  ): Promise<Scan[]> {
    if (queries.length === 0) return [];
    // If all nearer faces belong to the same few people, this many are needed to reach the next person.
    const maxFaces = Math.max(...queries.map(({ maxPeople }) => maxPeople * MAX_FACES_PER_PERSON));
    const embeddings = queries.map(({ embedding }) => embedding);
    const faces = await this.#templates
      .findNearest(gallery, embeddings, maxFaces, { timestamp, signal })
      .catch((error: unknown) => {
        if (error instanceof EngineError) this.#isDoubtful = true;
        throw error;
      });
    return queries.map(({ embedding, maxPeople, within }, i) => {
      const near = faces[i]!.filter(({ distance }) => distance <= within + MAX_ERROR);
      return {
        embedding,
        candidates: candidatesFrom(near, maxPeople, MAX_ERROR),
        revision: gallery.revision,
      };
    });
  }
}

/** Whether Milvus has all faces of a version. */
function isAt(
  progress: MilvusProgress | undefined,
  { revision, token }: GalleryVersion,
): progress is MilvusProgress {
  return (
    progress?.until === revision &&
    progress.version?.revision === revision &&
    progress.version.token === token
  );
}

async function ignoreFailure(promise: Promise<unknown> | undefined): Promise<void> {
  await promise?.catch(() => {});
}
