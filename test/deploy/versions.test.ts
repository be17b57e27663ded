import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";

/** Where a version is written, by file, and how often. */
const VERSIONS: readonly (readonly [path: string, pattern: RegExp, count: number])[] = [
  ["package.json", /^ {2}"version": "(.+)"/gm, 1],
  ["sdks/typescript/package.json", /^ {2}"version": "(.+)"/gm, 1],
  ["sdks/python/pyproject.toml", /^version = "(.+)"/gm, 1],
  ["sdks/java/pom.xml", /^ {2}<version>(.+)</gm, 1],
  // Its own version, and that of the client it depends on.
  ["sdks/java/example/pom.xml", /visage-client.*<\/artifactId>\s+<version>(.+)</gm, 2],
  ["deploy/chart/Chart.yaml", /^(?:version|appVersion): (.+)$/gm, 2],
];

test.each(VERSIONS)("%s has the version of the service", (path, pattern, count) => {
  const { version } = JSON.parse(readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8")) as {
    version: string;
  };
  const found = [...readFileSync(join(PACKAGE_ROOT, path), "utf8").matchAll(pattern)].map(([, text]) => text);
  expect(found).toEqual(Array(count).fill(version));
});
