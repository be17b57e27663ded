import { DIMENSIONS } from "../../search/assembly/constants.ts";
import type { PersonMatch } from "../gallery-index.ts";
import type { Gallery, GalleryChanges, GalleryProgress, PackedTemplates } from "../gallery-store.ts";
import { secretPartOf } from "../removal-mark.ts";
import type { MilvusClient } from "./milvus-client.ts";
import type { MilvusIndex } from "./milvus-collections.ts";
import { integers, integersOf, numbersOf, stringsOf, texts, vectors } from "./milvus-columns.ts";
import {
  columnsOf,
  galleryDigest,
  IdCipher,
  identityFrom,
  idsOf,
  inGallery,
  listOf,
  progressOf,
  rowIdOf,
  templatesOf,
} from "./milvus-rows.ts";

/** The gallery of rows, by its key and the model of its templates. */
export type GalleryRows = Pick<Gallery, "key" | "model">;

/** What Milvus has of a gallery. */
export interface MilvusProgress extends GalleryProgress {
  /** The timestamp of Milvus from which it sees that. */
  readonly timestamp: bigint;
}

/** How much of a gallery Milvus has before its first row. */
export const NO_PROGRESS: MilvusProgress = { until: -1, version: undefined, timestamp: 0n };

/** Rows of one request. */
const BATCH_SIZE = 1_000;
/** Marks of one request: its expression has 36 characters for each. */
const MARKS_AT_ONCE = 500;
/** Queries of one request: a response may have 2,020 candidates for each. */
const QUERIES_AT_ONCE = 16;
/** More candidates are read than are needed, because the distances of Milvus are rounded. */
const EXTRA_CANDIDATES = 20;

/** Reads and writes the rows of galleries. Every method throws EngineError. */
export class MilvusTemplates {
  readonly #client: MilvusClient;
  readonly #index: MilvusIndex;

  constructor(client: MilvusClient, index: MilvusIndex) {
    this.#client = client;
    this.#index = index;
  }

  /** Makes the collections of a model if they do not exist. */
  async prepare(model: string): Promise<void> {
    const progress = progressOf(model);
    // The progress of templates that are gone is none.
    await this.#client.prepare(templatesOf(model, this.#index), () => this.#client.drop(progress.name));
    await this.#client.prepare(progress);
  }

  /** Looks again whether the collections of a model exist. */
  async prepareAgain(model: string): Promise<void> {
    this.#client.forget(progressOf(model).name);
    this.#client.forget(templatesOf(model, this.#index).name);
    await this.prepare(model);
  }

  /** Reads how much of galleries of a model Milvus has, by their keys. Those of which it has nothing are left out. */
  async readProgress(
    model: string,
    galleryKeys: readonly string[],
  ): Promise<ReadonlyMap<string, MilvusProgress>> {
    const keys = new Map(galleryKeys.map((key) => [galleryDigest(key), key]));
    const columns = await this.#client.query(progressOf(model), `gallery in ${listOf([...keys.keys()])}`, [
      "gallery",
      "until",
      "revision",
      "timestamp",
      "token",
    ]);
    const [until, revision, timestamp] = ["until", "revision", "timestamp"].map((name) =>
      integersOf(columns.get(name)),
    );
    const tokens = stringsOf(columns.get("token"));
    return new Map(
      stringsOf(columns.get("gallery")).map((digest, i) => [
        keys.get(digest)!,
        {
          until: Number(until![i]),
          version: { revision: Number(revision![i]), token: tokens[i]! },
          timestamp: timestamp![i]!,
        },
      ]),
    );
  }

  /** Writes how much of a gallery Milvus has. */
  async writeProgress(
    { key, model }: GalleryRows,
    { until, version, timestamp }: MilvusProgress,
  ): Promise<void> {
    const columns = [
      texts("gallery", [galleryDigest(key)]),
      integers("until", [BigInt(until)]),
      integers("revision", [BigInt(version!.revision)]),
      integers("timestamp", [timestamp]),
      texts("token", [version!.token]),
      vectors("unused", [0, 0], 2),
    ];
    await this.#client.upsert(progressOf(model), columns, 1);
  }

  /** Deletes everything of a gallery. `beforeWrite` is called before each request that writes. */
  async deleteGallery({ key, model }: GalleryRows, beforeWrite: () => Promise<void>): Promise<void> {
    await beforeWrite();
    // First, so that a gallery that is deleted in part is not taken for a whole one.
    await this.#client.delete(progressOf(model), `gallery in ${listOf([galleryDigest(key)])}`);
    await beforeWrite();
    await this.#client.delete(templatesOf(model, this.#index), inGallery(key));
  }

  /** Writes a page of changes, except for the progress. Returns the timestamp from which Milvus sees them. */
  async apply(
    { key, model }: GalleryRows,
    { removed, added }: Pick<GalleryChanges, "removed" | "added">,
    beforeWrite: () => Promise<void>,
  ): Promise<bigint> {
    const collection = templatesOf(model, this.#index);
    let latest = 0n;
    const write = async (request: () => Promise<bigint>) => {
      await beforeWrite();
      const timestamp = await request();
      if (timestamp > latest) latest = timestamp;
    };
    for (let start = 0; start < removed.length; start += MARKS_AT_ONCE) {
      const marks = listOf(removed.slice(start, start + MARKS_AT_ONCE).map(secretPartOf));
      await write(() => this.#client.delete(collection, `id in ${marks}`));
      await write(() => this.#client.delete(collection, `${inGallery(key)} and person in ${marks}`));
    }
    const ids = idsOf(added.ids);
    for (let start = 0; start < ids.length; start += BATCH_SIZE) {
      const some = ids.slice(start, start + BATCH_SIZE);
      const numbers = added.embeddings.subarray(start * DIMENSIONS, (start + some.length) * DIMENSIONS);
      await write(() => this.#client.upsert(collection, columnsOf(key, some, numbers), some.length));
    }
    return latest;
  }

  /** Finds the `maxFaces` nearest faces for each embedding, and a few more. */
  async findNearest(
    { key, model }: GalleryRows,
    embeddings: readonly Float32Array[],
    maxFaces: number,
    { timestamp, signal }: { readonly timestamp: bigint; readonly signal: AbortSignal | undefined },
  ): Promise<PersonMatch[][]> {
    const cipher = new IdCipher(key);
    const found: PersonMatch[][] = [];
    for (let start = 0; start < embeddings.length; start += QUERIES_AT_ONCE) {
      const some = embeddings.slice(start, start + QUERIES_AT_ONCE);
      const hits = await this.#client.search(templatesOf(model, this.#index), some, {
        expr: inGallery(key),
        limit: maxFaces + EXTRA_CANDIDATES,
        outputField: "ids",
        timestamp,
        signal,
      });
      for (const [i] of some.entries())
        found.push(
          (hits[i] ?? []).map(({ distance, value }) => ({
            ...identityFrom(cipher.decrypt(value)),
            distance,
          })),
        );
    }
    return found;
  }

  /** Counts the rows of a gallery, or of all galleries of a model. */
  async countFaces({ key, model }: { readonly key?: string; readonly model: string }): Promise<number> {
    const expr = key === undefined ? "" : inGallery(key);
    const columns = await this.#client.query(templatesOf(model, this.#index), expr, ["count(*)"]);
    return Number(integersOf(columns.get("count(*)"))[0] ?? 0n);
  }

  /** Counts the faces that Milvus has, and those of them that are exactly as they are here. */
  async compare(
    { key, model }: GalleryRows,
    { ids, embeddings }: PackedTemplates,
  ): Promise<{ readonly present: number; readonly equal: number }> {
    const faces = idsOf(ids);
    const cipher = new IdCipher(key);
    let [present, equal] = [0, 0];
    for (let start = 0; start < faces.length; start += BATCH_SIZE) {
      const places = new Map(
        faces.slice(start, start + BATCH_SIZE).map((face, i) => [rowIdOf(key, face), start + i]),
      );
      const expr = `id in ${listOf([...places.keys()])}`;
      const columns = await this.#client.query(templatesOf(model, this.#index), expr, [
        "id",
        "ids",
        "embedding",
      ]);
      const storedIds = stringsOf(columns.get("ids"));
      const numbers = numbersOf(columns.get("embedding"));
      for (const [row, id] of stringsOf(columns.get("id")).entries()) {
        present++;
        const place = places.get(id)!;
        const template = embeddings.subarray(place * DIMENSIONS, (place + 1) * DIMENSIONS);
        const isEqual = (number: number, i: number) => number === numbers[row * DIMENSIONS + i];
        if (cipher.decrypt(storedIds[row]!) === faces[place] && template.every(isEqual)) equal++;
      }
    }
    return { present, equal };
  }

  /** Deletes everything that Milvus has of a model. */
  async drop(model: string): Promise<void> {
    await this.#client.drop(progressOf(model).name);
    await this.#client.drop(templatesOf(model, this.#index).name);
  }
}
