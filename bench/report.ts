import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT } from "../src/package-root.ts";
import { formatTable } from "../tools/support/format.ts";

const RESULTS_DIR = join(PACKAGE_ROOT, "bench/results");

/** A measured key figure and its target. */
export interface Figure {
  readonly name: string;
  /** The measured value as text with its unit. */
  readonly measured: string;
  readonly target: string;
  readonly isMet: boolean;
}

/** One chapter of a report: its key figures and its body in Markdown. */
export interface Chapter {
  readonly title: string;
  readonly figures: readonly Figure[];
  readonly body: string;
}

/** Formats the key figures of all chapters as a Markdown table. */
export function formatSummary(chapters: readonly Chapter[]): string {
  const rows = chapters.flatMap(({ figures }) =>
    figures.map(({ name, measured, target, isMet }) => [name, measured, target, isMet ? "yes" : "**no**"]),
  );
  return formatTable(["", "measured", "target", "met"], rows);
}

/** Formats chapters in Markdown, each below its heading. */
export function formatChapters(chapters: readonly Chapter[]): string {
  return chapters.map(({ title, body }) => `## ${title}\n\n${body}`).join("\n\n");
}

/** Writes a Markdown report to bench/results. */
export function writeReport(fileName: string, paragraphs: readonly string[]): void {
  writeResult(fileName, `${paragraphs.join("\n\n")}\n`);
}

/** Writes a file to bench/results. */
export function writeResult(fileName: string, content: string): void {
  mkdirSync(RESULTS_DIR, { recursive: true });
  writeFileSync(join(RESULTS_DIR, fileName), content);
}
