// Which galleries Milvus has, as the database knows it, and which process may write there.
import { randomUUID } from "node:crypto";
import { runOne } from "../../database/delete-in-batches.ts";
import type { SqlDatabase, TransactionScript } from "../../database/sql-database.ts";
import type { Gallery, GalleryVersion } from "../gallery-store.ts";
import { EngineError } from "../searchable-galleries.ts";
import { galleryFromRow } from "../sql-gallery-rows.ts";
import type { GalleryRows } from "./milvus-templates.ts";

/**
 * How long a process may write without renewing its lease. Longer than the time limit of a request to Milvus, so that
 * none of the previous holder is still running. The clocks of replicas may differ by the rest.
 */
const LEASE_MS = 20_000;

/** Galleries that one query lists. */
const PAGE_SIZE = 100;

/**
 * The table `engine_galleries`. A gallery has a row before Milvus gets its first template, and until Milvus has none. So
 * it also names what is to be deleted from Milvus after the gallery, or its user, is gone.
 */
export class EngineGalleries {
  readonly #database: SqlDatabase;
  /** Of this process. */
  readonly #holder = randomUUID();

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** Takes the lease of a gallery, so that only this process writes its templates to Milvus. Returns whether it has it. */
  async acquire({ key, model }: GalleryRows): Promise<boolean> {
    const rows = await this.#run(
      `insert into engine_galleries (gallery_key, model, revision, token, holder, held_until)
        values ($1, $2, -1, '', $3, $4)
        on conflict (gallery_key) do update set holder = excluded.holder, held_until = excluded.held_until
          where engine_galleries.held_until < $5 returning gallery_key`,
      [key, model, this.#holder, Date.now() + LEASE_MS, Date.now()],
    );
    return rows.length > 0;
  }

  /** Renews a lease. Throws EngineError if another process has taken it. */
  async renew(key: string): Promise<void> {
    await this.#updateHeld(key, "held_until = $3", [Date.now() + LEASE_MS]);
  }

  /** Ends a lease. Records the version that Milvus has, if it is given. Throws EngineError if another process has taken it. */
  async release(key: string, version?: GalleryVersion): Promise<void> {
    if (version)
      await this.#updateHeld(key, "held_until = 0, revision = $3, token = $4", [
        version.revision,
        version.token,
      ]);
    else await this.#updateHeld(key, "held_until = 0", []);
  }

  /** Ends a lease, because Milvus has nothing of the gallery any more. */
  async remove(key: string): Promise<void> {
    await this.#run(
      "delete from engine_galleries where gallery_key = $1 and holder = $2 returning gallery_key",
      [key, this.#holder],
    );
  }

  /** Lists the models of all galleries, and of those that Milvus may still have. */
  async listModels(): Promise<string[]> {
    const sql = "select model from galleries where id is not null union select model from engine_galleries";
    return (await this.#database.query({ sql })).map(({ model }) => String(model));
  }

  /** Lists all galleries. */
  async *listAll(): AsyncGenerator<Gallery> {
    let after = "";
    for (;;) {
      const rows = await this.#database.query({
        sql: `select * from galleries where id is not null and key > $1 order by key limit ${PAGE_SIZE}`,
        values: [after],
      });
      if (rows.length === 0) return;
      for (const row of rows) yield galleryFromRow(row);
      after = String(rows.at(-1)!.key);
    }
  }

  /** Gives all galleries another version, so that every process reads what Milvus has of them. */
  async renewVersions(): Promise<void> {
    await this.#database.runTransaction(renewVersions());
  }

  /** Lists galleries that have changed since Milvus got them, those with few faces first. */
  async listOutdated(count: number): Promise<Gallery[]> {
    const rows = await this.#database.query({
      sql: `select galleries.* from galleries left join engine_galleries engine on engine.gallery_key = key
        where id is not null and (engine.revision is null or engine.revision <> galleries.revision
          or engine.token <> galleries.token)
        order by galleries.faces limit $1`,
      values: [count],
    });
    return rows.map(galleryFromRow);
  }

  /** Lists galleries that are deleted, and that Milvus may still have. */
  async listDeleted(count: number): Promise<GalleryRows[]> {
    const rows = await this.#database.query({
      sql: `select engine.* from engine_galleries engine
        left join galleries on key = engine.gallery_key and id is not null where key is null limit $1`,
      values: [count],
    });
    return rows.map((row) => ({ key: String(row.gallery_key), model: String(row.model) }));
  }

  async #updateHeld(key: string, changes: string, values: readonly (string | number)[]): Promise<void> {
    const rows = await this.#run(
      `update engine_galleries set ${changes} where gallery_key = $1 and holder = $2 returning gallery_key`,
      [key, this.#holder, ...values],
    );
    if (rows.length === 0)
      throw new EngineError("refused", "Another process has taken over the writing of a gallery to Milvus");
  }

  #run(sql: string, values: readonly (string | number)[]) {
    return this.#database.runTransaction(runOne(sql, values));
  }
}

function* renewVersions(): TransactionScript<void> {
  const values = [randomUUID()];
  yield { sql: "update galleries set revision = revision + 1, token = $1 where id is not null", values };
  // Not those that others have created meanwhile.
  yield {
    sql: `insert into gallery_revisions (gallery_key, revision, token)
      select key, revision, token from galleries where token = $1`,
    values,
  };
}
