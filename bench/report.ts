/** A measured figure and what it is to reach. */
export interface Figure {
  readonly what: string;
  /** What was measured, as text with its unit. */
  readonly measured: string;
  readonly target: string;
  readonly reached: boolean;
}

/** One chapter of a report: its key figures and its body in Markdown. */
export interface Chapter {
  readonly title: string;
  readonly figures: readonly Figure[];
  readonly body: string;
}

/** A Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** A share as a percentage with one or more decimals. */
export function percent(part: number, whole: number, decimals = 1): string {
  return whole === 0 ? "-" : `${((100 * part) / whole).toFixed(decimals)} %`;
}

/** Arithmetic mean; 0 of nothing. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
