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

/** The key figures of all chapters as a Markdown table. */
export function summaryOf(chapters: readonly Chapter[]): string {
  const rows = chapters.flatMap(({ figures }) =>
    figures.map(({ what, measured, target, reached }) => [
      what,
      measured,
      target,
      reached ? "yes" : "**no**",
    ]),
  );
  return table(["", "measured", "to reach", ""], rows);
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

/** A duration with as many decimals as matter. */
export function milliseconds(value: number): string {
  return Number.isNaN(value) ? "-" : `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}
