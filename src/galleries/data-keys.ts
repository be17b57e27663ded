// The data keys: a random key for each user, which encrypts its templates and is itself encrypted by a master key. It is
// read with the templates in one statement, and never kept: a service always has the one of the database.
import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import {
  bytesFromColumn,
  type Row,
  type SqlDatabase,
  type TransactionScript,
} from "../database/sql-database.ts";
import { decrypt, encrypt } from "./aes-gcm.ts";
import type { MasterKey, MasterKeys } from "./master-keys.ts";
import { PLAIN_BYTES, TemplateCipher, TemplateError } from "./template-cipher.ts";

const DATA_KEY_BYTES = 32;

/** The data key for the gallery $1, to be joined on true. */
export const DATA_KEY = `(select user_id as owner, master, wrapped from data_keys
  where user_id = (select user_id from galleries where key = $1)) data_key`;

/** A data key as it is stored. */
export interface WrappedDataKey {
  readonly owner: string;
  /** The fingerprint of the master key. */
  readonly master: string;
  readonly wrapped: Uint8Array;
}

/** Throws an Error if a data key is encrypted by a master key that is not configured. */
export async function requireMasterKeys(
  database: Pick<SqlDatabase, "query">,
  { all }: MasterKeys,
): Promise<void> {
  const rows = await database.query({ sql: "select distinct master from data_keys order by master" });
  const missing = rows.map(({ master }) => String(master)).filter((master) => !all.has(master));
  if (missing.length > 0)
    throw new Error(
      `VISAGE_TEMPLATE_KEY lacks the master key ${missing.join(", ")}, with which templates are encrypted; it has ${[...all.keys()].join(", ") || "none"}`,
    );
}

/** Returns the data key of a user, which is created if there is none. Undefined if new templates are not encrypted. */
export function* ensureDataKey(
  userId: string,
  keys: MasterKeys,
  rowLockClause: string,
): TransactionScript<KeyObject | undefined> {
  if (!keys.first) return undefined;
  const existing = yield* findDataKey(userId, keys, rowLockClause);
  if (existing) return existing;
  const wrapped = encrypt(keys.first.key, randomBytes(DATA_KEY_BYTES), Buffer.from(userId));
  yield {
    // Another replica may be creating one, and the user may have been removed.
    sql: `insert into data_keys (user_id, master, wrapped)
      select id, $2, $3 from users where id = $1 on conflict do nothing`,
    values: [userId, keys.first.fingerprint, wrapped],
  };
  return yield* findDataKey(userId, keys, rowLockClause);
}

/** Returns the data key of a user, and keeps it from being deleted until the transaction ends. */
export function* findDataKey(
  userId: string,
  keys: MasterKeys,
  rowLockClause: string,
): TransactionScript<KeyObject | undefined> {
  const [row] = yield {
    sql: `select user_id as owner, master, wrapped from data_keys where user_id = $1 ${rowLockClause}`,
    values: [userId],
  };
  return row && unwrap(dataKeyFromRow(row), keys);
}

/** Converts a row of DATA_KEY. */
export function dataKeyFromRow({ owner, master, wrapped }: Row): WrappedDataKey {
  return { owner: String(owner), master: String(master), wrapped: bytesFromColumn(wrapped) };
}

/** Decrypts a data key. Throws TemplateError if it has been changed, or its master key is not configured. */
export function unwrap({ owner, master, wrapped }: WrappedDataKey, { all }: MasterKeys): KeyObject {
  const masterKey = all.get(master);
  if (!masterKey)
    throw new TemplateError(
      `Templates are encrypted with the master key ${master}, which VISAGE_TEMPLATE_KEY lacks`,
    );
  try {
    return createSecretKey(decrypt(masterKey.key, wrapped, Buffer.from(owner)));
  } catch (error) {
    throw new TemplateError(
      `The data key of the user ${owner} cannot be decrypted: it was damaged, or is that of another user`,
      { cause: error },
    );
  }
}

/** Encrypts a data key by a master key. */
export function wrap(dataKey: KeyObject, { key }: MasterKey, userId: string): Buffer {
  return encrypt(key, dataKey.export(), Buffer.from(userId));
}

/** Opens the cipher of a gallery with the row of DATA_KEY. Throws TemplateError, also if there is no row. */
export function openCipher(
  galleryKey: string,
  row: WrappedDataKey | undefined,
  keys: MasterKeys,
): TemplateCipher {
  if (!row) throw new TemplateError("Templates are encrypted, but the data key of the user is missing");
  return new TemplateCipher(unwrap(row, keys), galleryKey);
}

/** Decrypts those templates of a gallery's faces that are encrypted. The rows have the columns of DATA_KEY. */
export function decryptRows(galleryKey: string, rows: readonly Row[], keys: MasterKeys): readonly Row[] {
  let cipher: TemplateCipher | undefined;
  return rows.map((row) => {
    const template = bytesFromColumn(row.template);
    if (template.length === PLAIN_BYTES) return row;
    cipher ??= openCipher(galleryKey, row.wrapped === null ? undefined : dataKeyFromRow(row), keys);
    return { ...row, template: cipher.decrypt(Buffer.from(`${row.person_id}/${row.id}`), template) };
  });
}
