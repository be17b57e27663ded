import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT } from "../../src/package-root.ts";

/** Lists the Markdown files of the repository, as paths from its root. Reports of the benchmarks are generated. */
export function markdownFiles(): string[] {
  const listed = execFileSync(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "--", "*.md"],
    { cwd: PACKAGE_ROOT, encoding: "utf8" },
  );
  return listed
    .trim()
    .split("\n")
    .filter((path) => !path.startsWith("bench/results/"));
}

/** Reads a Markdown file, given by its path from the root of the repository. */
export function readMarkdown(path: string): string {
  return readFileSync(join(PACKAGE_ROOT, path), "utf8");
}

/** Returns the text below a heading of any level, up to the next heading of level 2 or 1. */
export function sectionUnder(text: string, heading: string): string {
  const [, after] = text.split(new RegExp(`^#+ ${heading}$`, "m"));
  if (after === undefined) throw new Error(`There is no heading "${heading}".`);
  return after.split(/^##? /m)[0]!;
}

/** Returns the rows of the nth table of a text, as cells without backticks. */
export function tableRows(text: string, nth = 0): string[][] {
  const table = [...text.matchAll(/(?:^\|.*\n)+/gm)][nth]?.[0] ?? "";
  const [, , ...rows] = table.trim().split("\n");
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
}

/** Returns the code blocks of a language. */
export function codeBlocks(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    ([, block]) => block!,
  );
}
