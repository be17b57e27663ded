/**
 * The lines of a table under its columns' names, two spaces apart. Columns of words are aligned to the left, all
 * others, of numbers, to the right.
 */
export function alignRows(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  words: readonly string[],
): string[] {
  const all = [columns, ...rows];
  const widths = columns.map((_, i) => Math.max(...all.map((row) => row[i]!.length)));
  const pad = (cell: string, i: number) =>
    words.includes(columns[i]!) ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!);
  return all.map((row) => row.map(pad).join("  ").trimEnd());
}
