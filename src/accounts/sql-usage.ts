import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Row, SqlDatabase, TransactionScript } from "../database/sql-database.ts";
import {
  type KeyUse,
  SUCCESS_OUTCOME,
  type UsageCount,
  type UsageSelection,
  type UsageSum,
} from "./account-store.ts";
import { updateKeyUses } from "./sql-keys.ts";

/** How long batch ids are kept. A batch is retried within minutes. */
const BATCH_ID_RETENTION_MS = 24 * 3_600_000;

const MONTH_OF_DAY = "substr(day, 1, 7)";

/** See AccountStore.addUsage. */
export function* insertUsage(
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
  const tables = `counts as (
      select value ->> 'userId' as user_id, value ->> 'day' as day, value ->> 'key' as key,
        value ->> 'operation' as operation, value ->> 'outcome' as outcome,
        cast(value ->> 'count' as bigint) as count
      from json_each($1)
    ), known as (
      select id as user_id from users where id in (select user_id from counts) order by id ${rowLockClause}
    )`;
  const values = [JSON.stringify({ ...counts })];
  yield {
    sql: `with ${tables}
      insert into usage (user_id, day, key, operation, outcome, count)
      select user_id, day, key, operation, outcome, sum(count) from counts join known using (user_id)
      group by user_id, day, key, operation, outcome order by user_id, day, key, operation, outcome
      on conflict (user_id, day, key, operation, outcome) do update set count = usage.count + excluded.count`,
    values,
  };
  yield {
    sql: `with ${tables}
      insert into monthly_successes (user_id, month, count)
      select user_id, ${MONTH_OF_DAY}, sum(count) from counts join known using (user_id)
      where outcome = '${SUCCESS_OUTCOME}' group by user_id, ${MONTH_OF_DAY} order by user_id, ${MONTH_OF_DAY}
      on conflict (user_id, month) do update set count = monthly_successes.count + excluded.count`,
    values,
  };
  yield* updateKeyUses(keyUses, exclusiveRowLockClause);
  yield {
    sql: "delete from usage_batches where added_at < $1",
    values: [new Date(now - BATCH_ID_RETENTION_MS).toISOString()],
  };
}

/** Rows that are summed at once. SQLite does that on the event loop: 10,000 block it for 50 ms. */
const ROWS_AT_ONCE = 5_000;

/** The rows after the day and user $1 and $2 up to $3 and $4. Each condition fits one of the indexes. */
const RANGE = "day >= $1 and day <= $3 and (day, user_id) > ($1, $2) and (day, user_id) <= ($3, $4)";

/** See AccountStore.sumUsage. */
export async function sumUsage(
  database: Pick<SqlDatabase, "query">,
  { userId, firstMonth, lastMonth, byDay = false, byKey = false }: UsageSelection,
): Promise<UsageSum[]> {
  const columns = [...(byDay ? ["day"] : []), ...(byKey ? ["key"] : []), "operation", "outcome"].join(", ");
  const rows = userId === undefined ? RANGE : `${RANGE} and user_id = $5`;
  const user = userId === undefined ? [] : [userId];
  const sums = new Map<string, UsageSum>();
  // In the order of text, a month comes before its days, and this day after all others.
  const last = [`${lastMonth}-99`, ""];
  for (let from = [firstMonth, ""], isLast = false; !isLast; ) {
    const [end] = await database.query({
      sql: `select day, user_id from usage where ${rows} order by day, user_id limit 1 offset ${ROWS_AT_ONCE}`,
      values: [...from, ...last, ...user],
    });
    const to = end ? [String(end.day), String(end.user_id)] : last;
    const sumsOfRows = await database.query({
      sql: `select ${MONTH_OF_DAY} as month, ${columns}, sum(count) as count from usage
        where ${rows} group by month, ${columns}`,
      values: [...from, ...to, ...user],
    });
    addSums(sums, sumsOfRows);
    from = to;
    isLast = end === undefined;
    await yieldToEventLoop();
  }
  // Not sorted by the database, because PostgreSQL compares text by its own locale.
  return [...sums.values()].sort(compareSums);
}

/** Adds sums to those of the same month, day, key, operation and outcome. */
function addSums(sums: Map<string, UsageSum>, rows: readonly Row[]): void {
  for (const { count, ...row } of rows) {
    const names = Object.values(row).join(" ");
    const sum = { ...row, count: Number(count) } as UsageSum;
    sums.set(names, { ...sum, count: sum.count + (sums.get(names)?.count ?? 0) });
  }
}

/** Orders sums by month, day, key, operation and descending count. */
function compareSums(a: UsageSum, b: UsageSum): number {
  return (
    compareText(a.month, b.month) ||
    compareText(a.day, b.day) ||
    compareText(a.key, b.key) ||
    compareText(a.operation, b.operation) ||
    b.count - a.count ||
    compareText(a.outcome, b.outcome)
  );
}

function compareText(a = "", b = ""): number {
  return a < b ? -1 : Number(a > b);
}

/** Converts a row of the table `usage`. */
export function usageFromRow(row: Row): UsageCount {
  const { user_id: userId, day, key, operation, outcome, count } = row;
  return { userId, day, key, operation, outcome, count: Number(count) } as UsageCount;
}
