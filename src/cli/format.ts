import type { Plan } from "../../gen/ts/visage/v1/account_pb.ts";

/**
 * Formats rows as the lines of a table with a header, with two spaces between columns. Columns in `textColumns` are
 * left-aligned, all others right-aligned.
 */
export function formatTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  textColumns: readonly string[],
): string[] {
  const allRows = [columns, ...rows];
  // Not Math.max with all rows as arguments, which overflows the stack if there are very many.
  const widths = columns.map((_, i) => allRows.reduce((width, row) => Math.max(width, row[i]!.length), 0));
  const pad = (cell: string, i: number) =>
    textColumns.includes(columns[i]!) ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!);
  return allRows.map((row) => row.map(pad).join("  ").trimEnd());
}

/** Replaces control characters. In a file name they could control the terminal. */
export function replaceControlCharacters(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "?");
}

/** Formats a number of things, such as "1 face" and "2 faces". */
export function formatCount(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Formats a fraction (0 to 1) as a whole percentage. */
export function formatPercent(fraction: number): string {
  return `${Math.round(100 * fraction)}%`;
}

/** Formats how many successful requests of a month were made on a plan. */
export function formatQuota({ name, limits }: Plan, used: number): string {
  const { requestsPerMonth } = limits!;
  if (requestsPerMonth === undefined) return `${used} used, no limit on plan ${name}`;
  const percent = formatPercent(used / Number(requestsPerMonth));
  return `${used} of ${requestsPerMonth} used (${percent}) on plan ${name}`;
}
