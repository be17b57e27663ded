import { setTimeout as sleep } from "node:timers/promises";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import {
  CollectionSchemaSchema,
  type FieldSchemaSchema,
  LoadState,
  type MilvusService,
} from "../../../gen/ts/milvus/milvus_pb.ts";
import { EngineError } from "../searchable-galleries.ts";
import { check, isMissing, orEngineError, pairsFrom, requireSuccess, wrapStatus } from "./milvus-status.ts";

/** The indexes that can be chosen. FLAT compares with every template, the others miss some. */
export const MILVUS_INDEXES = ["FLAT", "HNSW", "IVF_FLAT"] as const;
export type MilvusIndex = (typeof MILVUS_INDEXES)[number];

/** A collection with a vector field. */
export interface Collection {
  readonly name: string;
  readonly fields: readonly MessageInitShape<typeof FieldSchemaSchema>[];
  readonly vectorField: string;
  readonly index: MilvusIndex;
}

const LOAD_POLL_MS = 200;
/** A collection that is loaded for longer counts as unreachable. */
const MAX_LOAD_MS = 60_000;
/** The parameters of the indexes, and those of their searches. Chosen for recall, which docs/galleries.md states. */
const INDEX_PARAMS: Readonly<Record<MilvusIndex, object>> = {
  FLAT: {},
  HNSW: { M: 32, efConstruction: 400 },
  IVF_FLAT: { nlist: 1024 },
};
export const SEARCH_PARAMS: Readonly<Record<MilvusIndex, (limit: number) => object>> = {
  FLAT: () => ({}),
  HNSW: (limit) => ({ ef: Math.max(800, 2 * limit) }),
  IVF_FLAT: () => ({ nprobe: 256 }),
};

/** The collections that are ready for requests. */
export class PreparedCollections {
  readonly #client: Client<typeof MilvusService>;
  /** Those that exist and are loaded, or are about to be. */
  readonly #ready = new Map<string, Promise<void>>();

  constructor(client: Client<typeof MilvusService>) {
    this.#client = client;
  }

  /** Makes a collection that does not exist, after `onMissing`, and loads it. */
  async prepare(collection: Collection, onMissing?: () => Promise<void>): Promise<void> {
    await this.#once(collection, async () => {
      await onMissing?.();
      await this.#create(collection);
    });
  }

  /** Loads a collection. Throws EngineError if it does not exist. */
  async requireReady(collection: Collection): Promise<void> {
    await this.#once(collection, () => {
      throw new EngineError("refused", `Milvus has no collection ${collection.name}`);
    });
  }

  /** Looks at a collection again before the next request. */
  forget(name: string): void {
    this.#ready.delete(name);
  }

  /** Deletes a collection with all rows, if there is one. */
  async drop(collectionName: string): Promise<void> {
    this.forget(collectionName);
    const status = await orEngineError(() => this.#client.dropCollection({ collectionName }));
    if (!isMissing(status)) requireSuccess(status);
  }

  async #once(collection: Collection, onMissing: () => Promise<void>): Promise<void> {
    const { name } = collection;
    const ready = this.#ready.get(name) ?? this.#prepare(collection, onMissing);
    this.#ready.set(name, ready);
    try {
      await ready;
    } catch (error) {
      if (this.#ready.get(name) === ready) this.forget(name);
      throw error;
    }
  }

  async #prepare({ name, vectorField, index }: Collection, onMissing: () => Promise<void>): Promise<void> {
    const collection = { collectionName: name };
    const { status } = await orEngineError(() => this.#client.describeCollection(collection));
    if (isMissing(status)) await onMissing();
    else requireSuccess(status);
    await this.#prepareIndex(name, vectorField, index);
    await check(() => this.#client.loadCollection(collection).then(wrapStatus));
    const endMs = performance.now() + MAX_LOAD_MS;
    while ((await check(() => this.#client.getLoadState(collection))).state !== LoadState.LOADED) {
      if (performance.now() > endMs)
        throw new EngineError("unreachable", `Milvus does not load the collection ${name}`);
      await sleep(LOAD_POLL_MS);
    }
  }

  async #prepareIndex(collectionName: string, fieldName: string, index: MilvusIndex): Promise<void> {
    const field = { collectionName, fieldName };
    const { status, indexDescriptions } = await orEngineError(() => this.#client.describeIndex(field));
    if (!isMissing(status)) requireSuccess(status);
    const [existing] = indexDescriptions.flatMap(({ params }) =>
      params.flatMap(({ key, value }) => (key === "index_type" ? value : [])),
    );
    if (existing === index) return;
    if (existing !== undefined)
      throw new EngineError(
        "refused",
        `The collection ${collectionName} has the index ${existing} instead of ${index}; run "visage galleries reindex"`,
      );
    const params = JSON.stringify(INDEX_PARAMS[index]);
    const extraParams = pairsFrom({ index_type: index, metric_type: "L2", params });
    await check(() => this.#client.createIndex({ ...field, extraParams }).then(wrapStatus));
  }

  /** Creates a collection, unless another process has done so. */
  async #create({ name, fields }: Collection): Promise<void> {
    const collectionName = name;
    const schema = create(CollectionSchemaSchema, { name, fields: [...fields] });
    const request = { collectionName, schema: toBinary(CollectionSchemaSchema, schema) };
    try {
      await check(() => this.#client.createCollection(request).then(wrapStatus));
    } catch (error) {
      const { status } = await orEngineError(() => this.#client.describeCollection({ collectionName }));
      if (status?.code !== 0 || status.errorCode !== 0) throw error;
    }
  }
}
