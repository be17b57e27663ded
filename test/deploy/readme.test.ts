import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";

const { scripts } = JSON.parse(readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

describe.each(["deploy/README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"])("%s", (name) => {
  const path = join(PACKAGE_ROOT, name);
  const text = readFileSync(path, "utf8");

  test("links to files that exist", () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => link!);
    expect(links.filter((link) => !existsSync(join(dirname(path), link)))).toEqual([]);
  });

  test("names scripts that exist", () => {
    const named = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script!);
    expect(named.filter((script) => !(script in scripts))).toEqual([]);
  });
});
