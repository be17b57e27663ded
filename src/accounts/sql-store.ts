import {
  dateFromColumn,
  optionalDateFromColumn,
  type Row,
  type SqlDatabase,
  type SqlValue,
  type TransactionScript,
} from "../database/sql-database.ts";
import {
  AccountError,
  type AccountStore,
  type KeyUse,
  type Plan,
  SUCCESS_OUTCOME,
  type UsageCount,
  type User,
  type UserChanges,
  type UserSelector,
} from "./account-store.ts";
import { FINGERPRINT_LENGTH, fingerprintOf } from "./key.ts";
import { insertKey, keyFromRow, rotateKey, updateKeyUses } from "./sql-keys.ts";

/** How long batch ids are kept. A batch is retried within minutes. */
const BATCH_ID_RETENTION_MS = 24 * 3_600_000;

/** Creates an account store on a database whose schema is up to date. */
export function createSqlStore(database: SqlDatabase): AccountStore {
  return {
    async findAccount(selector, month) {
      const { sql, value } = accountQueryFrom(selector);
      const [row] = await database.query({ sql, values: [value, month, SUCCESS_OUTCOME] });
      if (!row) return undefined;
      const keyExpiresAt = optionalDateFromColumn(row.key_expires_at);
      // An expired key is unknown.
      if (keyExpiresAt && keyExpiresAt.getTime() <= Date.now()) return undefined;
      const user = userFromRow(row);
      const plan = planFromRow({ ...row, name: user.plan });
      return { user, plan, usedThisMonth: Number(row.used), keyExpiresAt };
    },

    addUsage: (batchId, counts, keyUses = []) =>
      database.runTransaction(insertUsage(batchId, counts, keyUses, database)),

    async listUsage({ userId = null, month = null } = {}) {
      const rows = await database.query({
        sql: `select * from usage where id_hash = coalesce($1, id_hash) and month = coalesce($2, month)
          order by id_hash, month, operation, outcome`,
        values: [userId, month],
      });
      return rows.map(usageFromRow);
    },

    async listUsers() {
      const rows = await database.query({ sql: "select * from users order by name" });
      return rows.map(userFromRow);
    },

    async findUsers(text) {
      const rows = await database.query({
        sql: `select * from users where $1 in (id_hash, name, substr(id_hash, 1, ${FINGERPRINT_LENGTH}))
            or id_hash in (select user_id from keys where hash = $1)
          order by name`,
        values: [text],
      });
      return rows.map(userFromRow);
    },

    addUser: (user, keyHash) => database.runTransaction(insertUser(user, keyHash, database.rowLockClause)),

    updateUser: (userId, changes) =>
      database.runTransaction(updateUser(userId, changes, database.rowLockClause)),

    async removeUser(userId) {
      if (await database.runTransaction(deleteUser(userId))) await database.eraseDeleted();
    },

    async listKeys(userId) {
      const rows = await database.query({
        sql: "select * from keys where user_id = $1 order by created_at, hash",
        values: [userId],
      });
      return rows.map(keyFromRow);
    },

    rotateKey: (userId, keyHash, othersExpireAt) =>
      database.runTransaction(rotateKey(userId, keyHash, othersExpireAt, database.exclusiveRowLockClause)),

    removeKey: (keyHash) => database.runTransaction(runOne("delete from keys where hash = $1", [keyHash])),

    async listPlans() {
      const rows = await database.query({ sql: "select * from plans order by name" });
      return rows.map(planFromRow);
    },

    setPlan: (plan) => database.runTransaction(upsertPlan(plan)),

    removePlan: (name) => database.runTransaction(deletePlan(name, database.exclusiveRowLockClause)),

    close: () => database.close(),
  };
}

/** The query of an account: $1 is the value, $2 the month and $3 the outcome to count. */
function accountQueryFrom(selector: UserSelector): { sql: string; value: string } {
  if ("keyHash" in selector) {
    const tables = "keys join users on users.id_hash = keys.user_id";
    return { sql: accountSql("keys.expires_at", tables, "keys.hash"), value: selector.keyHash };
  }
  if ("certificateSubject" in selector)
    return { sql: accountSql("null", "users", "certificate_subject"), value: selector.certificateSubject };
  return { sql: accountSql("null", "users", "users.id_hash"), value: selector.userId };
}

function accountSql(keyExpiry: string, tables: string, column: string): string {
  return `select users.*, requests_per_second, burst, requests_per_month, max_image_bytes, max_galleries,
      max_gallery_faces,
      ${keyExpiry} as key_expires_at,
      (select sum(count) from usage where usage.id_hash = users.id_hash and month = $2 and outcome = $3) as used
    from ${tables} join plans on plans.name = users.plan where ${column} = $1`;
}

function* insertUsage(
  batchId: string,
  counts: readonly UsageCount[],
  keyUses: readonly KeyUse[],
  { rowLockClause, exclusiveRowLockClause }: SqlDatabase,
): TransactionScript<void> {
  const now = Date.now();
  const [added] = yield {
    sql: "insert into usage_batches (id, added_at) values ($1, $2) on conflict do nothing returning id",
    values: [batchId, new Date(now).toISOString()],
  };
  if (!added) return;
  // All counts are passed as one JSON parameter, because a statement can have fewer parameters than there are counts.
  // It is an object, since `json_each` works the same in both databases only for objects. Counts of removed users are
  // dropped. The rows of the others are locked, always in the same order, so that replicas cannot deadlock.
  yield {
    sql: `with counts as (
        select value ->> 'userId' as id_hash, value ->> 'month' as month, value ->> 'operation' as operation,
          value ->> 'outcome' as outcome, cast(value ->> 'count' as bigint) as count
        from json_each($1)
      ), known as (
        select id_hash from users where id_hash in (select id_hash from counts) order by id_hash ${rowLockClause}
      )
      insert into usage (id_hash, month, operation, outcome, count)
      select id_hash, month, operation, outcome, sum(count) from counts join known using (id_hash)
      group by id_hash, month, operation, outcome order by id_hash, month, operation, outcome
      on conflict (id_hash, month, operation, outcome) do update set count = usage.count + excluded.count`,
    values: [JSON.stringify({ ...counts })],
  };
  yield* updateKeyUses(keyUses, exclusiveRowLockClause);
  yield {
    sql: "delete from usage_batches where added_at < $1",
    values: [new Date(now - BATCH_ID_RETENTION_MS).toISOString()],
  };
}

function* insertUser(user: User, keyHash: string, rowLockClause: string): TransactionScript<void> {
  const { id, name, plan, startsAt, endsAt, enabled, certificateSubject = null } = user;
  yield* requirePlan(plan, rowLockClause);
  yield* requireFreeSubject(certificateSubject, id);
  const [added] = yield {
    sql: `insert into users (id_hash, name, plan, starts_at, ends_at, enabled, certificate_subject)
      values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning id_hash`,
    values: [
      id,
      name,
      plan,
      startsAt.toISOString(),
      endsAt?.toISOString() ?? null,
      Number(enabled),
      certificateSubject,
    ],
  };
  if (!added) throw new AccountError(`A user named "${name}" already exists`);
  yield* insertKey(id, keyHash);
}

function* updateUser(userId: string, changes: UserChanges, rowLockClause: string): TransactionScript<User> {
  const { plan, startsAt, endsAt, enabled, certificateSubject } = changes;
  if (plan !== undefined) yield* requirePlan(plan, rowLockClause);
  yield* requireFreeSubject(certificateSubject ?? null, userId);
  const [row] = yield {
    sql: `update users set plan = coalesce($2, plan), starts_at = coalesce($3, starts_at),
        ends_at = case when $4 then $5 else ends_at end, enabled = coalesce($6, enabled),
        certificate_subject = case when $7 then $8 else certificate_subject end
      where id_hash = $1 returning *`,
    values: [
      userId,
      plan ?? null,
      startsAt?.toISOString() ?? null,
      Number("endsAt" in changes),
      endsAt?.toISOString() ?? null,
      enabled === undefined ? null : Number(enabled),
      Number("certificateSubject" in changes),
      certificateSubject ?? null,
    ],
  };
  if (!row) throw new AccountError("The user does not exist");
  return userFromRow(row);
}

/** Deletes a user with everything that it has. Returns whether it had galleries. */
function* deleteUser(userId: string): TransactionScript<boolean> {
  const [gallery] = yield { sql: "select key from galleries where user_id = $1 limit 1", values: [userId] };
  yield { sql: "delete from users where id_hash = $1", values: [userId] };
  return gallery !== undefined;
}

/** Throws AccountError if another user has the subject. */
function* requireFreeSubject(subject: string | null, userId: string): TransactionScript<void> {
  const [other] = yield {
    sql: "select name from users where certificate_subject = $1 and id_hash <> $2",
    values: [subject, userId],
  };
  if (other)
    throw new AccountError(`The certificate subject "${subject}" belongs to the user "${other.name}"`);
}

function* runOne(sql: string, values: readonly SqlValue[]): TransactionScript<void> {
  yield { sql, values };
}

function* upsertPlan({ name, burst, ...limits }: Plan): TransactionScript<void> {
  const { requestsPerSecond = null, requestsPerMonth = null, maxImageBytes = null } = limits;
  const { maxGalleries = null, maxGalleryFaces = null } = limits;
  yield {
    sql: `insert into plans (name, requests_per_second, burst, requests_per_month, max_image_bytes, max_galleries,
        max_gallery_faces)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (name) do update set requests_per_second = excluded.requests_per_second,
        burst = excluded.burst, requests_per_month = excluded.requests_per_month,
        max_image_bytes = excluded.max_image_bytes, max_galleries = excluded.max_galleries,
        max_gallery_faces = excluded.max_gallery_faces`,
    values: [name, requestsPerSecond, burst, requestsPerMonth, maxImageBytes, maxGalleries, maxGalleryFaces],
  };
}

function* deletePlan(name: string, exclusiveRowLockClause: string): TransactionScript<void> {
  // The lock keeps others from adding a user between the count and the deletion.
  yield* requirePlan(name, exclusiveRowLockClause);
  const [row] = yield { sql: "select count(*) as count from users where plan = $1", values: [name] };
  const count = Number(row!.count);
  if (count > 0)
    throw new AccountError(`The plan "${name}" still has ${count === 1 ? "1 user" : `${count} users`}`);
  yield { sql: "delete from plans where name = $1", values: [name] };
}

/** Throws AccountError unless the plan exists. The lock keeps it until the transaction ends. */
function* requirePlan(name: string, lockClause: string): TransactionScript<void> {
  const [plan] = yield { sql: `select name from plans where name = $1 ${lockClause}`, values: [name] };
  if (!plan) throw new AccountError(`The plan "${name}" does not exist`);
}

function userFromRow(row: Row): User {
  const id = String(row.id_hash);
  return {
    id,
    fingerprint: fingerprintOf(id),
    name: String(row.name),
    plan: String(row.plan),
    startsAt: dateFromColumn(row.starts_at),
    endsAt: optionalDateFromColumn(row.ends_at),
    enabled: Boolean(row.enabled),
    certificateSubject: row.certificate_subject === null ? undefined : String(row.certificate_subject),
  };
}

function planFromRow(row: Row): Plan {
  return {
    name: String(row.name),
    requestsPerSecond: limitFromColumn(row.requests_per_second),
    burst: Number(row.burst),
    requestsPerMonth: limitFromColumn(row.requests_per_month),
    maxImageBytes: limitFromColumn(row.max_image_bytes),
    maxGalleries: limitFromColumn(row.max_galleries),
    maxGalleryFaces: limitFromColumn(row.max_gallery_faces),
  };
}

function usageFromRow(row: Row): UsageCount {
  return {
    userId: String(row.id_hash),
    month: String(row.month),
    operation: String(row.operation),
    outcome: String(row.outcome),
    count: Number(row.count),
  };
}

/** The PostgreSQL driver returns bigint values as text. */
function limitFromColumn(value: unknown): number | undefined {
  return value === null ? undefined : Number(value);
}
