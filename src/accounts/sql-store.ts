import {
  AccountError,
  type AccountStore,
  type Plan,
  SUCCESS_OUTCOME,
  type UsageCount,
  type User,
} from "./account-store.ts";
import type { Row, SqlDatabase, TransactionScript } from "./sql-database.ts";
import { FINGERPRINT_LENGTH, fingerprintFromHash } from "./user-id.ts";

/** How long batch ids are kept. A batch is retried within minutes. */
const BATCH_ID_RETENTION_MS = 24 * 3_600_000;

/** Creates an account store on a database whose schema is up to date. */
export function createSqlStore(database: SqlDatabase): AccountStore {
  return {
    async findAccount(idHash, month) {
      const [row] = await database.query({
        sql: `select users.*, requests_per_second, burst, requests_per_month, max_image_bytes,
            (select sum(count) from usage where id_hash = $1 and month = $2 and outcome = $3) as used
          from users join plans on plans.name = users.plan where id_hash = $1`,
        values: [idHash, month, SUCCESS_OUTCOME],
      });
      if (!row) return undefined;
      const user = userFromRow(row);
      return { user, plan: planFromRow({ ...row, name: user.plan }), usedThisMonth: Number(row.used) };
    },

    addUsage: (batchId, counts) =>
      database.runTransaction(insertUsage(batchId, counts, database.rowLockClause)),

    async listUsage({ idHash = null, month = null } = {}) {
      const rows = await database.query({
        sql: `select * from usage where id_hash = coalesce($1, id_hash) and month = coalesce($2, month)
          order by id_hash, month, operation, outcome`,
        values: [idHash, month],
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
          order by name`,
        values: [text],
      });
      return rows.map(userFromRow);
    },

    addUser: (user) => database.runTransaction(insertUser(user, database.rowLockClause)),

    updateUser: (idHash, changes) =>
      database.runTransaction(updateUser(idHash, changes, database.rowLockClause)),

    removeUser: (idHash) => database.runTransaction(deleteUser(idHash)),

    async listPlans() {
      const rows = await database.query({ sql: "select * from plans order by name" });
      return rows.map(planFromRow);
    },

    setPlan: (plan) => database.runTransaction(upsertPlan(plan)),

    removePlan: (name) => database.runTransaction(deletePlan(name, database.exclusiveRowLockClause)),

    close: () => database.close(),
  };
}

function* insertUsage(
  batchId: string,
  counts: readonly UsageCount[],
  rowLockClause: string,
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
        select value ->> 'idHash' as id_hash, value ->> 'month' as month, value ->> 'operation' as operation,
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
  yield {
    sql: "delete from usage_batches where added_at < $1",
    values: [new Date(now - BATCH_ID_RETENTION_MS).toISOString()],
  };
}

function* insertUser(
  { idHash, name, plan, startsAt, endsAt, enabled }: User,
  rowLockClause: string,
): TransactionScript<void> {
  yield* requirePlan(plan, rowLockClause);
  const [added] = yield {
    sql: `insert into users (id_hash, name, plan, starts_at, ends_at, enabled) values ($1, $2, $3, $4, $5, $6)
      on conflict do nothing returning id_hash`,
    values: [idHash, name, plan, startsAt.toISOString(), endsAt?.toISOString() ?? null, Number(enabled)],
  };
  if (added) return;
  const [namesake] = yield { sql: "select name from users where name = $1", values: [name] };
  throw new AccountError(namesake ? `A user named "${name}" already exists` : "This id is already in use");
}

function* updateUser(
  idHash: string,
  changes: Parameters<AccountStore["updateUser"]>[1],
  rowLockClause: string,
): TransactionScript<User> {
  const { plan, startsAt, endsAt, enabled } = changes;
  if (plan !== undefined) yield* requirePlan(plan, rowLockClause);
  const [row] = yield {
    sql: `update users set plan = coalesce($2, plan), starts_at = coalesce($3, starts_at),
        ends_at = case when $4 then $5 else ends_at end, enabled = coalesce($6, enabled)
      where id_hash = $1 returning *`,
    values: [
      idHash,
      plan ?? null,
      startsAt?.toISOString() ?? null,
      Number("endsAt" in changes),
      endsAt?.toISOString() ?? null,
      enabled === undefined ? null : Number(enabled),
    ],
  };
  if (!row) throw new AccountError("The user does not exist");
  return userFromRow(row);
}

function* deleteUser(idHash: string): TransactionScript<void> {
  yield { sql: "delete from users where id_hash = $1", values: [idHash] };
}

function* upsertPlan({ name, burst, ...limits }: Plan): TransactionScript<void> {
  const { requestsPerSecond = null, requestsPerMonth = null, maxImageBytes = null } = limits;
  yield {
    sql: `insert into plans (name, requests_per_second, burst, requests_per_month, max_image_bytes)
      values ($1, $2, $3, $4, $5)
      on conflict (name) do update set requests_per_second = excluded.requests_per_second,
        burst = excluded.burst, requests_per_month = excluded.requests_per_month,
        max_image_bytes = excluded.max_image_bytes`,
    values: [name, requestsPerSecond, burst, requestsPerMonth, maxImageBytes],
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
  const idHash = String(row.id_hash);
  return {
    idHash,
    fingerprint: fingerprintFromHash(idHash),
    name: String(row.name),
    plan: String(row.plan),
    startsAt: dateFromColumn(row.starts_at),
    endsAt: row.ends_at === null ? undefined : dateFromColumn(row.ends_at),
    enabled: Boolean(row.enabled),
  };
}

function planFromRow(row: Row): Plan {
  return {
    name: String(row.name),
    requestsPerSecond: limitFromColumn(row.requests_per_second),
    burst: Number(row.burst),
    requestsPerMonth: limitFromColumn(row.requests_per_month),
    maxImageBytes: limitFromColumn(row.max_image_bytes),
  };
}

function usageFromRow(row: Row): UsageCount {
  return {
    idHash: String(row.id_hash),
    month: String(row.month),
    operation: String(row.operation),
    outcome: String(row.outcome),
    count: Number(row.count),
  };
}

/** The PostgreSQL driver returns a Date, SQLite the stored text. */
function dateFromColumn(value: unknown): Date {
  return new Date(value as Date | string);
}

/** The PostgreSQL driver returns bigint values as text. */
function limitFromColumn(value: unknown): number | undefined {
  return value === null ? undefined : Number(value);
}
