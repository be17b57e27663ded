/** Formats a Markdown table. */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Formats a part of a whole as a percentage; "-" if the whole is 0. */
export function formatPercent(part: number, whole: number, decimals = 1): string {
  return whole === 0 ? "-" : `${((100 * part) / whole).toFixed(decimals)} %`;
}

/** Formats a duration in milliseconds, with one decimal below 10 ms; "-" for NaN. */
export function formatMs(value: number): string {
  return Number.isNaN(value) ? "-" : `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}
