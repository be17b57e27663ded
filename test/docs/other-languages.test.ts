import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { codeBlocks, readMarkdown } from "../support/markdown.ts";

/** By the language of the code blocks: the programs that the system tests run. */
const PROGRAMS = {
  php: ["php/example.php"],
  rust: ["rust/build.rs", "rust/src/main.rs"],
  toml: ["rust/Cargo.toml"],
};

test.each(Object.entries(PROGRAMS))(
  "the lines of the %s code in docs/other-languages.md are those of a tested program",
  (language, files) => {
    const programs = files.map((file) => readFileSync(join(PACKAGE_ROOT, "test/sdks", file), "utf8"));
    const tested = new Set(programs.flatMap(trimmedLines));
    const lines = codeBlocks(readMarkdown("docs/other-languages.md"), language).flatMap(trimmedLines);
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.filter((line) => !tested.has(line))).toEqual([]);
  },
);

function trimmedLines(text: string): string[] {
  return text.split("\n").map((line) => line.trim());
}
