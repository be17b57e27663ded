import type { Row, SqlDatabase, SqlValue, TransactionScript } from "./sql-database.ts";

/** Rows that one transaction deletes: it must end in time and not keep others from writing for long. */
export const DELETION_BATCH = 1_000;

/** Repeats a statement that deletes at most DELETION_BATCH rows and returns them, until it finds no more. */
export async function deleteInBatches(
  database: SqlDatabase,
  sql: string,
  values: readonly SqlValue[],
): Promise<void> {
  while ((await database.runTransaction(runOne(sql, values))).length === DELETION_BATCH);
}

/** A transaction of one statement. */
export function* runOne(sql: string, values: readonly SqlValue[]): TransactionScript<readonly Row[]> {
  return yield { sql, values };
}
