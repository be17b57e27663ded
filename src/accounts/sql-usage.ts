import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Row, SqlDatabase, Statement, TransactionScript } from "../database/sql-database.ts";
import type { KeyUse, UsageCount, UsageSelection, UsageSum } from "./account-store.ts";
import { updateKeyUses } from "./sql-keys.ts";

/** How long batch ids are kept. A batch is retried within minutes. */
const BATCH_ID_RETENTION_MS = 24 * 3_600_000;

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
  yield {
    sql: `with counts as (
        select value ->> 'userId' as user_id, value ->> 'month' as month, value ->> 'operation' as operation,
          value ->> 'outcome' as outcome, cast(value ->> 'count' as bigint) as count
        from json_each($1)
      ), known as (
        select id as user_id from users where id in (select user_id from counts) order by id ${rowLockClause}
      )
      insert into usage (user_id, month, operation, outcome, count)
      select user_id, month, operation, outcome, sum(count) from counts join known using (user_id)
      group by user_id, month, operation, outcome order by user_id, month, operation, outcome
      on conflict (user_id, month, operation, outcome) do update set count = usage.count + excluded.count`,
    values: [JSON.stringify({ ...counts })],
  };
  yield* updateKeyUses(keyUses, exclusiveRowLockClause);
  yield {
    sql: "delete from usage_batches where added_at < $1",
    values: [new Date(now - BATCH_ID_RETENTION_MS).toISOString()],
  };
}

/** Rows that are summed at once. SQLite does that on the event loop: 600,000 block it for a second. */
const ROWS_AT_ONCE = 10_000;

/** Sums the usage of a user, or of all users, by month, operation and outcome. */
export async function sumUsage(
  database: Pick<SqlDatabase, "query">,
  { userId, firstMonth, lastMonth }: UsageSelection,
): Promise<UsageSum[]> {
  const months = [firstMonth, lastMonth];
  if (userId !== undefined)
    return usageSumsFromRows(await database.query(sumRange("user_id = $3", [...months, userId])));
  const rows: Row[] = [];
  for (let after = "", isLast = false; !isLast; ) {
    const [end] = await database.query({
      sql: `select user_id from usage where user_id > $1 order by user_id limit 1 offset ${ROWS_AT_ONCE}`,
      values: [after],
    });
    const range = end
      ? sumRange("user_id > $3 and user_id <= $4", [...months, after, String(end.user_id)])
      : sumRange("user_id > $3", [...months, after]);
    rows.push(...(await database.query(range)));
    after = String(end?.user_id);
    isLast = end === undefined;
    await yieldToEventLoop();
  }
  return usageSumsFromRows(rows);
}

function sumRange(condition: string, values: readonly string[]): Statement {
  return {
    sql: `select month, operation, outcome, sum(count) as count from usage
      where month >= $1 and month <= $2 and ${condition} group by month, operation, outcome`,
    values,
  };
}

/** Adds the counts of the same month, operation and outcome. Sorts by month and operation, then by descending count. */
function usageSumsFromRows(rows: readonly Row[]): UsageSum[] {
  const sums = new Map<string, UsageSum>();
  for (const sum of rows.map(usageSumFromRow)) {
    const key = JSON.stringify([sum.month, sum.operation, sum.outcome]);
    sums.set(key, { ...sum, count: sum.count + (sums.get(key)?.count ?? 0) });
  }
  // Not sorted by the database, because PostgreSQL compares text by its own locale.
  return [...sums.values()].sort(
    (a, b) =>
      a.month.localeCompare(b.month) ||
      a.operation.localeCompare(b.operation) ||
      b.count - a.count ||
      a.outcome.localeCompare(b.outcome),
  );
}

function usageSumFromRow(row: Row): UsageSum {
  return {
    month: String(row.month),
    operation: String(row.operation),
    outcome: String(row.outcome),
    count: Number(row.count),
  };
}

/** Converts a row of the table `usage`. */
export function usageFromRow(row: Row): UsageCount {
  return { userId: String(row.user_id), ...usageSumFromRow(row) };
}
