import { create, toBinary } from "@bufbuild/protobuf";
import { type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  ConsistencyLevel,
  DataType,
  type FieldData,
  MilvusService,
  PlaceholderGroupSchema,
  SearchRequest_DslType,
  type Status,
} from "../../../gen/ts/milvus/milvus_pb.ts";
import {
  type Collection,
  type MilvusIndex,
  PreparedCollections,
  SEARCH_PARAMS,
} from "./milvus-collections.ts";
import { type Column, stringsOf } from "./milvus-columns.ts";
import { check, pairsFrom } from "./milvus-status.ts";

/** How to reach Milvus. */
export interface MilvusSettings {
  /** `http:` or `https:`, with the port. */
  readonly url: string;
  /** `user:password` or an API key; undefined for none. */
  readonly token: string | undefined;
  /** PEM certificates of the authorities that are trusted; undefined for those of Node. */
  readonly ca: string | undefined;
  /** The name of the database. */
  readonly database: string;
  readonly index: MilvusIndex;
}

/** A near row. */
export interface Hit {
  /** The distance, not squared. */
  readonly distance: number;
  /** The value of the field that was asked for. */
  readonly value: string;
}

/** Limits one request. A search is also limited by its caller. */
const TIMEOUT_MS = 10_000;
const SEARCH_TIMEOUT_MS = 60_000;
/** How long a connection may be silent before it is probed. Servers close connections that are probed too often. */
const PING_INTERVAL_MS = 10_000;
const PING_TIMEOUT_MS = 3_000;

/**
 * Calls Milvus over gRPC. Every method throws EngineError, or the reason of the signal. `prepare` makes a collection; the
 * others need one that exists.
 */
export class MilvusClient {
  readonly #client: Client<typeof MilvusService>;
  readonly #collections: PreparedCollections;

  constructor({ url, token, ca, database }: MilvusSettings) {
    const authenticate: Interceptor = (next) => (request) => {
      request.header.set("dbname", database);
      if (token !== undefined) request.header.set("authorization", Buffer.from(token).toString("base64"));
      return next(request);
    };
    this.#client = createClient(
      MilvusService,
      createGrpcTransport({
        baseUrl: url,
        interceptors: [authenticate],
        defaultTimeoutMs: TIMEOUT_MS,
        // Otherwise a connection that the network has lost is used until TCP gives up, for a quarter of an hour.
        pingIntervalMs: PING_INTERVAL_MS,
        pingTimeoutMs: PING_TIMEOUT_MS,
        ...(ca !== undefined && { nodeOptions: { ca } }),
      }),
    );
    this.#collections = new PreparedCollections(this.#client);
  }

  /** Writes rows, in place of those with the same primary key. Returns the timestamp of Milvus from which it sees them. */
  async upsert(collection: Collection, columns: readonly Column[], rows: number): Promise<bigint> {
    const request = { collectionName: collection.name, fieldsData: [...columns], numRows: rows };
    const { timestamp } = await this.#call(collection, () => this.#client.upsert(request));
    return timestamp;
  }

  /** Deletes the rows that fulfil an expression. Returns the timestamp from which Milvus does not see them. */
  async delete(collection: Collection, expr: string): Promise<bigint> {
    const request = { collectionName: collection.name, expr, consistencyLevel: ConsistencyLevel.STRONG };
    const { timestamp } = await this.#call(collection, () => this.#client.delete(request));
    return timestamp;
  }

  /** Reads the rows that fulfil an expression, with everything that was written before. Returns a column for each field. */
  async query(
    collection: Collection,
    expr: string,
    outputFields: readonly string[],
  ): Promise<ReadonlyMap<string, FieldData>> {
    const request = {
      collectionName: collection.name,
      expr,
      outputFields: [...outputFields],
      consistencyLevel: ConsistencyLevel.STRONG,
    };
    const { fieldsData } = await this.#call(collection, () => this.#client.query(request));
    return new Map(fieldsData.map((column) => [column.fieldName, column]));
  }

  /**
   * Finds the nearest rows that fulfil an expression, for each vector, the nearest first. Sees what was written up to a
   * timestamp.
   */
  async search(
    collection: Collection,
    vectors: readonly Float32Array[],
    {
      expr,
      limit,
      outputField,
      timestamp,
      signal,
    }: {
      readonly expr: string;
      readonly limit: number;
      readonly outputField: string;
      readonly timestamp: bigint;
      readonly signal: AbortSignal | undefined;
    },
  ): Promise<Hit[][]> {
    const params = SEARCH_PARAMS[collection.index](limit);
    const values = vectors.map(
      ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
    );
    const placeholders = [{ tag: "$0", type: DataType.FLOAT_VECTOR, values }];
    const request = {
      collectionName: collection.name,
      dsl: expr,
      dslType: SearchRequest_DslType.BOOL_EXPR_V1,
      placeholderGroup: toBinary(PlaceholderGroupSchema, create(PlaceholderGroupSchema, { placeholders })),
      outputFields: [outputField],
      searchParams: pairsFrom({
        anns_field: collection.vectorField,
        metric_type: "L2",
        topk: String(limit),
        params: JSON.stringify(params),
      }),
      nq: BigInt(vectors.length),
      ...(timestamp > 0n && { consistencyLevel: ConsistencyLevel.CUSTOMIZED, guaranteeTimestamp: timestamp }),
    };
    const { results } = await this.#call(
      collection,
      () => this.#client.search(request, { timeoutMs: SEARCH_TIMEOUT_MS, ...(signal && { signal }) }),
      signal,
    );
    const column = stringsOf(results?.fieldsData.find(({ fieldName }) => fieldName === outputField));
    let start = 0;
    return (results?.topks ?? []).map((count) => {
      const rows = Array.from({ length: Number(count) }, (_, i) => start + i);
      start += rows.length;
      return rows.map((row) => ({
        // Rounding may make the square of a distance of zero negative.
        distance: Math.sqrt(Math.max(0, results!.scores[row]!)),
        value: column[row]!,
      }));
    });
  }

  /** Makes a collection that does not exist, after `onMissing`, and loads it. */
  prepare(collection: Collection, onMissing?: () => Promise<void>): Promise<void> {
    return this.#collections.prepare(collection, onMissing);
  }

  /** Looks at a collection again before the next request. */
  forget(collectionName: string): void {
    this.#collections.forget(collectionName);
  }

  /** Deletes a collection with all rows, if there is one. */
  drop(collectionName: string): Promise<void> {
    return this.#collections.drop(collectionName);
  }

  /** Calls Milvus when the collection is loaded. */
  async #call<Response extends { status?: Status | undefined }>(
    collection: Collection,
    call: () => Promise<Response>,
    signal?: AbortSignal,
  ): Promise<Response> {
    try {
      await this.#collections.requireReady(collection);
      return await check(call);
    } catch (error) {
      signal?.throwIfAborted();
      // Milvus may be another one now, without the collection.
      this.#collections.forget(collection.name);
      throw error;
    }
  }
}
