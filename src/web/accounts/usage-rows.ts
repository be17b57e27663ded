import { writeCsv } from "../site/csv.ts";
import type { Key, UsageCount } from "./messages.ts";

/** What requests can be counted by. */
export type Breakdown = "operation" | "key" | "outcome" | "day";

/** The number of requests of one day, operation, key and outcome. */
export interface UsageRow extends Readonly<Record<Breakdown, string>> {
  readonly count: number;
}

/** Requests under one name. */
export interface UsageSum {
  readonly name: string;
  readonly ok: number;
  readonly failed: number;
}

const SUCCESS = "ok";

/** Converts counts. Keys get the names that the user gave them, as far as they exist. */
export function usageRows(counts: readonly UsageCount[], keys: readonly Key[]): UsageRow[] {
  const names = new Map(
    keys.map(({ fingerprint, name }) => [fingerprint, name && `${name} (${fingerprint})`]),
  );
  const keyName = (key: string) => {
    if (key === "") return "client certificate";
    return names.get(key) || (key === "other" ? "other keys" : key);
  };
  return counts.map(({ day, operation, outcome, key, count }) => ({
    ...{ day, operation, outcome },
    key: key === undefined ? "" : keyName(key),
    count: Number(count),
  }));
}

/** Sums rows by one of their fields: days in their order, others by descending number. */
export function sumUsageBy(rows: readonly UsageRow[], by: Breakdown): UsageSum[] {
  const sums = new Map<string, UsageSum>();
  for (const row of rows) {
    const name = row[by];
    const { ok, failed } = sums.get(name) ?? { ok: 0, failed: 0 };
    const isOk = row.outcome === SUCCESS;
    sums.set(name, { name, ok: ok + (isOk ? row.count : 0), failed: failed + (isOk ? 0 : row.count) });
  }
  const total = ({ ok, failed }: UsageSum) => ok + failed;
  return [...sums.values()].sort((a, b) =>
    by === "day" ? a.name.localeCompare(b.name) : total(b) - total(a),
  );
}

/** Writes rows as CSV. Without keys there is no column of them. */
export function usageCsv(rows: readonly UsageRow[], hasKeys: boolean): string {
  const columns = (["day", "operation", "key", "outcome", "count"] as const).filter(
    (column) => hasKeys || column !== "key",
  );
  return writeCsv(
    columns,
    rows.map((row) => columns.map((column) => row[column])),
  );
}
