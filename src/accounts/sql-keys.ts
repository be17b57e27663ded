import {
  dateFromColumn,
  optionalDateFromColumn,
  type Row,
  type Statement,
  type TransactionScript,
} from "../database/sql-database.ts";
import { AccountError, type Key, type KeyUse, MAX_LIVE_KEYS } from "./account-store.ts";
import { fingerprintOf } from "./key.ts";
import { isLive } from "./user-keys.ts";

/** Inserts a key. Throws AccountError if it is taken. */
export function* insertKey(userId: string, keyHash: string): TransactionScript<void> {
  const [added] = yield {
    sql: `insert into keys (hash, user_id, created_at) values ($1, $2, $3) on conflict do nothing returning hash`,
    values: [keyHash, userId, new Date().toISOString()],
  };
  if (!added) throw new AccountError("This key is already in use");
}

/** See AccountStore.rotateKey. Expired keys are removed. */
export function* rotateKey(
  userId: string,
  keyHash: string,
  othersExpireAt: Date,
  requiredHashes: readonly string[],
  exclusiveRowLockClause: string,
): TransactionScript<Key[]> {
  // The lock keeps two concurrent rotations from adding a third key.
  const [user] = yield {
    sql: `select id from users where id = $1 ${exclusiveRowLockClause}`,
    values: [userId],
  };
  if (!user) throw new AccountError("The user does not exist", "userNotFound");
  yield* requireLiveKeys(requiredHashes);
  yield {
    sql: `update keys set expires_at = $2 where user_id = $1 and (expires_at is null or expires_at > $2)`,
    values: [userId, othersExpireAt.toISOString()],
  };
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
  yield* insertKey(userId, keyHash);
  const rows = yield selectKeys(userId);
  return rows.map(keyFromRow);
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
    createdAt: dateFromColumn(row.created_at),
    expiresAt: optionalDateFromColumn(row.expires_at),
    lastUsedAt: optionalDateFromColumn(row.last_used_at),
  };
}
