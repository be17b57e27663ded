import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { markdownFiles, readMarkdown } from "../support/markdown.ts";

const { scripts, files } = JSON.parse(readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
  files: string[];
};

/** Top-level folders whose paths the documentation names. */
const PATH = /^(?:src|test|docs|bench|tools|deploy|proto|gen|models|sdks|\.ci|\.github)\/[\w./-]*$/;
/** The changelog also names what no longer exists. */
const HISTORY = "CHANGELOG.md";

describe.each(markdownFiles())("%s", (path) => {
  const text = readMarkdown(path);
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, "");

  test("links to files and headings that exist", () => {
    const links = [...prose.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, link]) => link!);
    expect(links.filter((link) => !resolves(path, link))).toEqual([]);
  });

  test.skipIf(path === HISTORY)("names scripts that exist", () => {
    const named = [...text.matchAll(/npm (?:run (?:--silent )?([\w:]+)|(start|test)\b)/g)].map(
      ([, script, short]) => (script ?? short)!,
    );
    expect(named.filter((script) => !(script in scripts))).toEqual([]);
  });

  test.skipIf(path === HISTORY)("names paths that exist", () => {
    const named = [...text.matchAll(/`([^`\s]+)`|(?<=^|[\s(])([\w./-]+\/[\w./-]+\.(?:ts|mjs|proto|md))\b/gm)]
      .map(([, quoted, plain]) => (quoted ?? plain)!)
      .filter((name) => PATH.test(name));
    const from = (name: string) => [join(PACKAGE_ROOT, name), join(PACKAGE_ROOT, dirname(path), name)];
    expect(named.filter((name) => !from(name).some(existsSync))).toEqual([]);
  });
});

test("the package contains the pages that the README links to in docs/", () => {
  expect(files).toContain("docs");
  expect(statSync(join(PACKAGE_ROOT, "docs/images/playground.webp")).size).toBeLessThan(200_000);
});

function resolves(from: string, link: string): boolean {
  const [file, anchor] = link.split("#") as [string, string?];
  const target = file === "" ? from : join(dirname(from), file);
  if (!existsSync(join(PACKAGE_ROOT, target))) return false;
  return anchor === undefined || headingAnchors(target).includes(anchor);
}

/** The anchors that GitHub gives to the headings of a page. */
function headingAnchors(path: string): string[] {
  return [...readMarkdown(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}
