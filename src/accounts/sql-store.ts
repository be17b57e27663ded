import {
  AccountError,
  type AccountStore,
  type Plan,
  SUCCESS_OUTCOME,
  type UsageCount,
  type User,
} from "./account-store.ts";
import type { Row, Script, SqlDatabase } from "./sql-database.ts";
import { FINGERPRINT_CHARACTERS, fingerprintOf } from "./user-id.ts";

/** A batch is sent again within minutes, so that its id need not be known for longer than this. */
const BATCH_MEMORY_MS = 24 * 3_600_000;

/** The account store on a database whose schema is up to date. */
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

    addUsage: (batchId, counts) => database.transact(usageAddition(batchId, counts, database.keepRows)),

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
        sql: `select * from users where $1 in (id_hash, name, substr(id_hash, 1, ${FINGERPRINT_CHARACTERS}))
          order by name`,
        values: [text],
      });
      return rows.map(userFromRow);
    },

    addUser: (user) => database.transact(userAddition(user)),

    changeUser: (idHash, changes) => database.transact(userChange(idHash, changes)),

    removeUser: (idHash) => database.transact(userRemoval(idHash)),

    async listPlans() {
      const rows = await database.query({ sql: "select * from plans order by name" });
      return rows.map(planFromRow);
    },

    setPlan: (plan) => database.transact(planSetting(plan)),

    close: () => database.close(),
  };
}

function* usageAddition(batchId: string, counts: readonly UsageCount[], keepRows: string): Script<void> {
  const now = Date.now();
  const [added] = yield {
    sql: "insert into usage_batches (id, added_at) values ($1, $2) on conflict do nothing returning id",
    values: [batchId, new Date(now).toISOString()],
  };
  if (!added) return;
  // The counts are one value, as there may be more of them than a statement takes parameters: an object, since
  // `json_each` means the same in both databases only for those. Users that are gone are left out, and the rest
  // are kept until the end. Rows are locked in one order everywhere, so that replicas never wait in a circle.
  yield {
    sql: `with counts as (
        select value ->> 'idHash' as id_hash, value ->> 'month' as month, value ->> 'operation' as operation,
          value ->> 'outcome' as outcome, cast(value ->> 'count' as bigint) as count
        from json_each($1)
      ), known as (
        select id_hash from users where id_hash in (select id_hash from counts) order by id_hash ${keepRows}
      )
      insert into usage (id_hash, month, operation, outcome, count)
      select id_hash, month, operation, outcome, sum(count) from counts join known using (id_hash)
      group by id_hash, month, operation, outcome order by id_hash, month, operation, outcome
      on conflict (id_hash, month, operation, outcome) do update set count = usage.count + excluded.count`,
    values: [JSON.stringify({ ...counts })],
  };
  yield {
    sql: "delete from usage_batches where added_at < $1",
    values: [new Date(now - BATCH_MEMORY_MS).toISOString()],
  };
}

function* userAddition({ idHash, name, plan, startsAt, endsAt, enabled }: User): Script<void> {
  yield* planCheck(plan);
  const [added] = yield {
    sql: `insert into users (id_hash, name, plan, starts_at, ends_at, enabled) values ($1, $2, $3, $4, $5, $6)
      on conflict do nothing returning id_hash`,
    values: [idHash, name, plan, startsAt.toISOString(), endsAt?.toISOString() ?? null, Number(enabled)],
  };
  if (added) return;
  const [namesake] = yield { sql: "select name from users where name = $1", values: [name] };
  throw new AccountError(namesake ? `There is a user named "${name}" already` : "This id is taken already");
}

function* userChange(idHash: string, changes: Parameters<AccountStore["changeUser"]>[1]): Script<User> {
  const { plan, startsAt, endsAt, enabled } = changes;
  if (plan !== undefined) yield* planCheck(plan);
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
  if (!row) throw new AccountError("There is no such user");
  return userFromRow(row);
}

function* userRemoval(idHash: string): Script<void> {
  yield { sql: "delete from users where id_hash = $1", values: [idHash] };
}

function* planSetting({ name, burst, ...limits }: Plan): Script<void> {
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

function* planCheck(name: string): Script<void> {
  const [plan] = yield { sql: "select name from plans where name = $1", values: [name] };
  if (!plan) throw new AccountError(`There is no plan named "${name}"`);
}

function userFromRow(row: Row): User {
  const idHash = String(row.id_hash);
  return {
    idHash,
    fingerprint: fingerprintOf(idHash),
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

/** PostgreSQL's driver gives a Date, SQLite the text that was stored. */
function dateFromColumn(value: unknown): Date {
  return new Date(value as Date | string);
}

/** PostgreSQL's driver gives large numbers as text. */
function limitFromColumn(value: unknown): number | undefined {
  return value === null ? undefined : Number(value);
}
