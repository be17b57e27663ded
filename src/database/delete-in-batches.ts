import type { Row, SqlDatabase, SqlValue, TransactionScript } from "./sql-database.ts";

/** Rows that one transaction deletes or hides. SQLite does that on the event loop: 1,000 take 15 ms. */
export const DELETION_BATCH = 500;

/** Repeats a statement that changes at most DELETION_BATCH rows and returns them, until it finds no more. */
export async function deleteInBatches(
  database: Pick<SqlDatabase, "runTransaction">,
  sql: string,
  values: readonly SqlValue[],
): Promise<void> {
  while ((await database.runTransaction(runOne(sql, values))).length === DELETION_BATCH);
}

/** A transaction of one statement. */
export function* runOne(sql: string, values: readonly SqlValue[]): TransactionScript<readonly Row[]> {
  return yield { sql, values };
}
