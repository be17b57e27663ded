import {
  dateFromColumn,
  optionalDateFromColumn,
  type Row,
  type Statement,
  type TransactionScript,
} from "../database/sql-database.ts";
import type { KeyRights, Permission } from "../permissions.ts";
import {
  AccountError,
  type Key,
  type KeyAddition,
  type KeyUse,
  MAX_LIVE_KEYS,
  type NewKey,
} from "./account-store.ts";
import { fingerprintOf } from "./key.ts";
import { isLive } from "./user-keys.ts";

/** Inserts a key. Throws AccountError if it is taken. */
export function* insertKey(userId: string, key: NewKey): TransactionScript<void> {
  const { hash, name, scopes, galleryIds, expiresAt } = key;
  const [added] = yield {
    sql: `insert into keys (hash, user_id, name, scopes, gallery_ids, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning hash`,
    values: [
      ...[hash, userId, name, scopes ? JSON.stringify(scopes) : null],
      ...[galleryIds ? JSON.stringify(galleryIds) : null, new Date().toISOString()],
      expiresAt?.toISOString() ?? null,
    ],
  };
  if (!added) throw new AccountError("This key is already in use");
}

/** See AccountStore.addKey. */
export function* addKey(
  userId: string,
  key: NewKey,
  { requiredHashes = [], replaced }: KeyAddition,
  exclusiveRowLockClause: string,
): TransactionScript<Key[]> {
  // The lock keeps concurrent additions from exceeding the limit.
  const [user] = yield {
    sql: `select id from users where id = $1 ${exclusiveRowLockClause}`,
    values: [userId],
  };
  if (!user) throw new AccountError("The user does not exist", "userNotFound");
  yield* requireLiveKeys(requiredHashes);
  if (replaced) yield* expireKey(userId, replaced.hash, replaced.expiresAt);
  yield {
    sql: "delete from keys where user_id = $1 and expires_at <= $2",
    values: [userId, new Date().toISOString()],
  };
  const live = yield { sql: "select hash from keys where user_id = $1", values: [userId] };
  if (live.length >= MAX_LIVE_KEYS)
    throw new AccountError(
      `The user has ${live.length} keys already. Revoke one of them, or wait until it expires`,
      "tooManyKeys",
    );
  yield* insertKey(userId, key);
  const rows = yield selectKeys(userId);
  return rows.map(keyFromRow);
}

function* expireKey(userId: string, hash: string, expiresAt: Date): TransactionScript<void> {
  const values = [userId, hash, expiresAt.toISOString()];
  const [found] = yield {
    sql: `update keys set expires_at = case when expires_at < $3 then expires_at else $3 end
      where user_id = $1 and hash = $2 returning hash`,
    values,
  };
  if (!found) throw new AccountError("The user has no key with this fingerprint", "keyNotFound");
}

/** Selects the keys of a user by the time of their creation. */
export function selectKeys(userId: string): Statement {
  return { sql: "select * from keys where user_id = $1 order by created_at, hash", values: [userId] };
}

/** See AccountStore.removeKey. */
export function* deleteKey(
  keyHash: string,
  requiredHashes: readonly string[],
  exclusiveRowLockClause: string,
): TransactionScript<void> {
  // The lock keeps two keys from deleting each other.
  yield {
    sql: `select id from users where id = (select user_id from keys where hash = $1)
      ${exclusiveRowLockClause}`,
    values: [keyHash],
  };
  yield* requireLiveKeys(requiredHashes);
  yield { sql: "delete from keys where hash = $1", values: [keyHash] };
}

/** Throws AccountError if one of the keys does not exist or has expired. */
function* requireLiveKeys(hashes: readonly string[]): TransactionScript<void> {
  for (const hash of hashes) {
    const [row] = yield { sql: "select * from keys where hash = $1", values: [hash] };
    if (!row || !isLive(keyFromRow(row)))
      throw new AccountError("The key of the request is no longer valid", "unknownUser");
  }
}

/** Sets the time of the last use, if it is later than the stored one. Uses of removed keys are dropped. */
export function* updateKeyUses(
  uses: readonly KeyUse[],
  exclusiveRowLockClause: string,
): TransactionScript<void> {
  if (uses.length === 0) return;
  // Rows are locked in one order, so that replicas cannot deadlock.
  yield {
    sql: `select hash from keys where hash in (select value ->> 'hash' from json_each($1))
      order by hash ${exclusiveRowLockClause}`,
    values: [JSON.stringify({ ...uses })],
  };
  for (const [usedAt, group] of groupByTime(uses))
    yield {
      sql: `update keys set last_used_at = $2 where hash in (select value ->> 'hash' from json_each($1))
        and (last_used_at is null or last_used_at < $2)`,
      values: [JSON.stringify({ ...group }), usedAt],
    };
}

/** Groups uses by their time: each time is a statement, and a batch has few of them. */
function groupByTime(uses: readonly KeyUse[]): Map<string, KeyUse[]> {
  const groups = new Map<string, KeyUse[]>();
  for (const use of uses) {
    const time = use.usedAt.toISOString();
    const group = groups.get(time);
    if (group) group.push(use);
    else groups.set(time, [use]);
  }
  return groups;
}

/** Converts a row of the table `keys`. */
export function keyFromRow(row: Row): Key {
  const hash = String(row.hash);
  return {
    hash,
    fingerprint: fingerprintOf(hash),
    name: String(row.name),
    ...rightsFromRow(row),
    createdAt: dateFromColumn(row.created_at),
    expiresAt: optionalDateFromColumn(row.expires_at),
    lastUsedAt: optionalDateFromColumn(row.last_used_at),
  };
}

/** Reads what a key may be used for. */
export function rightsFromRow({ scopes, gallery_ids }: Row): KeyRights {
  return { scopes: listFrom<Permission>(scopes), galleryIds: listFrom(gallery_ids) };
}

function listFrom<T extends string>(json: Row[string] | undefined): readonly T[] | undefined {
  return typeof json === "string" ? JSON.parse(json) : undefined;
}
