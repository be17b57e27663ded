// Encrypts the templates that a database has already, or decrypts them, while services use it: in small transactions that
// lock the gallery like an enrolment.
import { setTimeout as sleep } from "node:timers/promises";
import {
  bytesFromColumn,
  type Row,
  type SqlDatabase,
  type TransactionScript,
} from "../database/sql-database.ts";
import { dataKeyFromRow, ensureDataKey, findDataKey, unwrap, wrap } from "./data-keys.ts";
import type { MasterKey, MasterKeys } from "./master-keys.ts";
import { jsonFrom } from "./sql-enrolment.ts";
import { PLAIN_BYTES, TemplateCipher } from "./template-cipher.ts";

/** How the templates of a database are stored. */
export interface TemplateStatus {
  readonly plain: number;
  readonly encrypted: number;
  /** The number of users whose data key is encrypted by a master key, by the fingerprint of that. */
  readonly dataKeys: ReadonlyMap<string, number>;
}

/** A gallery whose templates are converted. */
interface Owned {
  readonly key: string;
  readonly userId: string;
}

/** Templates that are looked at together, and so the most that one transaction changes. */
const PAGE_SIZE = 200;
const GALLERIES_AT_ONCE = 1_000;
const DATA_KEYS_AT_ONCE = 100;

/** Counts templates and data keys. Galleries that are being deleted do not count. */
export async function readTemplateStatus(database: SqlDatabase): Promise<TemplateStatus> {
  let [plain, all] = [0, 0];
  for await (const { key } of listGalleries(database)) {
    const [row] = await database.query({
      sql: `select count(*) as faces, count(case length(template) when ${PLAIN_BYTES} then 1 end) as plain
        from gallery_faces where gallery_key = $1`,
      values: [key],
    });
    plain += Number(row!.plain);
    all += Number(row!.faces);
  }
  const rows = await database.query({
    sql: "select master, count(*) as count from data_keys group by master order by master",
  });
  const dataKeys = new Map(rows.map((row) => [String(row.master), Number(row.count)]));
  return { plain, encrypted: all - plain, dataKeys };
}

/**
 * Encrypts the templates that are not, or decrypts those that are. Yields after each page how many templates it had and
 * how many of them were changed. It can be stopped then, and started again.
 */
export async function* convertTemplates(
  database: SqlDatabase,
  keys: MasterKeys,
  isEncryption: boolean,
): AsyncGenerator<{ readonly seen: number; readonly changed: number }> {
  for await (const gallery of listGalleries(database)) {
    let page: readonly Row[];
    let after = { personId: "", faceId: "" };
    do {
      page = await database.query({
        sql: `select person_id, id, length(template) as length from gallery_faces
          where gallery_key = $1 and (person_id, id) > ($2, $3) order by person_id, id limit ${PAGE_SIZE}`,
        values: [gallery.key, after.personId, after.faceId],
      });
      const ids = page.map((row) => ({ personId: String(row.person_id), faceId: String(row.id) }));
      const isDone = ({ length }: Row) => (Number(length) === PLAIN_BYTES) !== isEncryption;
      const wanted = ids.filter((_, i) => !isDone(page[i]!));
      after = ids.at(-1) ?? after;
      let changed = 0;
      if (wanted.length > 0) {
        const startMs = performance.now();
        changed = await database.runTransaction(convertPage(database, gallery, wanted, keys, isEncryption));
        // Half of the time is left to others that wait for the lock of an SQLite file.
        await sleep(performance.now() - startMs);
      }
      yield { seen: page.length, changed };
    } while (page.length === PAGE_SIZE);
  }
}

function* convertPage(
  { decodeHex, rowLockClause, exclusiveRowLockClause }: SqlDatabase,
  { key, userId }: Owned,
  ids: readonly object[],
  keys: MasterKeys,
  isEncryption: boolean,
): TransactionScript<number> {
  const dataKey = yield* (isEncryption ? ensureDataKey : findDataKey)(userId, keys, rowLockClause);
  // Keeps faces from being enrolled or deleted meanwhile.
  const [gallery] = yield {
    sql: `select key from galleries where key = $1 and id is not null ${exclusiveRowLockClause}`,
    values: [key],
  };
  if (!gallery || !dataKey) return 0;
  const cipher = new TemplateCipher(dataKey, key);
  const rows = yield {
    sql: `select person_id, faces.id, template from json_each($2) cross join gallery_faces faces
      where gallery_key = $1 and person_id = value ->> 'personId' and faces.id = value ->> 'faceId'
        and length(template) ${isEncryption ? "=" : "<>"} ${PLAIN_BYTES}`,
    values: [key, jsonFrom(ids)],
  };
  const changed = rows.map((row) => {
    const [personId, faceId] = [String(row.person_id), String(row.id)];
    const template = bytesFromColumn(row.template);
    const converted = isEncryption
      ? cipher.encrypt({ personId, faceId }, template)
      : cipher.decrypt(Buffer.from(`${personId}/${faceId}`), template);
    return { personId, faceId, template: converted.toString("hex") };
  });
  yield {
    // All rows exist. For an update from JSON, SQLite would scan the gallery.
    sql: `insert into gallery_faces (gallery_key, person_id, id, template, revision, created_at)
      select $1, value ->> 'personId', value ->> 'faceId', ${decodeHex("value ->> 'template'")}, 0, $3
      from json_each($2) where true
      on conflict (gallery_key, person_id, id) do update set template = excluded.template`,
    values: [key, jsonFrom(changed), new Date().toISOString()],
  };
  return changed.length;
}

/** Encrypts all data keys with a master key. Returns how many were not. */
export async function rewrapDataKeys(
  database: SqlDatabase,
  master: MasterKey,
  keys: MasterKeys,
): Promise<number> {
  for (let total = 0; ; ) {
    const count = await database.runTransaction(rewrapSome(database, master, keys));
    total += count;
    if (count < DATA_KEYS_AT_ONCE) return total;
  }
}

function* rewrapSome(
  { decodeHex, exclusiveRowLockClause }: SqlDatabase,
  master: MasterKey,
  keys: MasterKeys,
): TransactionScript<number> {
  const rows = yield {
    sql: `select user_id as owner, master, wrapped from data_keys where master <> $1
      order by user_id limit ${DATA_KEYS_AT_ONCE} ${exclusiveRowLockClause}`,
    values: [master.fingerprint],
  };
  const wrapped = rows.map(dataKeyFromRow).map((dataKey) => ({
    owner: dataKey.owner,
    wrapped: wrap(unwrap(dataKey, keys), master, dataKey.owner).toString("hex"),
  }));
  yield {
    sql: `insert into data_keys (user_id, master, wrapped)
      select value ->> 'owner', $1, ${decodeHex("value ->> 'wrapped'")} from json_each($2) where true
      on conflict (user_id) do update set master = excluded.master, wrapped = excluded.wrapped`,
    values: [master.fingerprint, jsonFrom(wrapped)],
  };
  return rows.length;
}

/** Deletes the data keys with which nothing is encrypted. Returns how many are left. */
export async function deleteUnusedDataKeys(database: SqlDatabase): Promise<number> {
  const users = await database.query({ sql: "select user_id from data_keys" });
  let left = 0;
  for (const { user_id } of users)
    if (!(await database.runTransaction(deleteUnusedDataKey(database, String(user_id))))) left++;
  return left;
}

function* deleteUnusedDataKey(
  { exclusiveRowLockClause }: SqlDatabase,
  userId: string,
): TransactionScript<boolean> {
  // Waits for enrolments that use the key.
  yield {
    sql: `select user_id from data_keys where user_id = $1 ${exclusiveRowLockClause}`,
    values: [userId],
  };
  const [face] = yield {
    sql: `select faces.id from galleries join gallery_faces faces on gallery_key = key
      where user_id = $1 and galleries.id is not null and length(template) <> ${PLAIN_BYTES} limit 1`,
    values: [userId],
  };
  if (!face) yield { sql: "delete from data_keys where user_id = $1", values: [userId] };
  return !face;
}

/** Lists the galleries of all users. */
async function* listGalleries(database: Pick<SqlDatabase, "query">): AsyncGenerator<Owned> {
  let after = "";
  let rows: readonly Row[];
  do {
    rows = await database.query({
      sql: `select key, user_id from galleries where id is not null and key > $1
        order by key limit ${GALLERIES_AT_ONCE}`,
      values: [after],
    });
    for (const row of rows) yield { key: String(row.key), userId: String(row.user_id) };
    after = String(rows.at(-1)?.key);
  } while (rows.length === GALLERIES_AT_ONCE);
}
