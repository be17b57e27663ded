// The rules for the names, places and tiers of test files. `npm run check` runs this. Biome checks for kebab-case.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

/** The name of a test file: what it tests, then its tier unless that is unit. */
const TEST_FILE = /^[a-z0-9-]+(\.service|\.system)?\.test\.ts$/;

/** Folders of test/ that mirror no folder of code. */
const OTHER_FOLDERS = ["edge", "support"];

/** Imports that show that a test is no unit test. */
const NOT_UNIT = [
  ...["node:dgram", "node:http", "node:http2", "node:https", "node:net", "node:tls", "pg", "playwright-core"],
  ...["support/service.ts", "../tools/support/service-process.ts"],
];

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" });
const testFiles = files.filter((file) => file.endsWith(".test.ts"));

test("every test file names its tier", () => {
  expect(testFiles.filter((file) => !TEST_FILE.test(file.split("/").at(-1)!))).toEqual([]);
  expect(testFiles.length).toBeGreaterThan(100);
});

test("every folder of tests mirrors a folder of code", () => {
  const folders = new Set(testFiles.map((file) => dirname(file)));
  const isKnown = (folder: string) =>
    OTHER_FOLDERS.includes(folder) ||
    [join("src", folder), folder].some((mirrored) => existsSync(join(ROOT, mirrored)));
  expect([...folders].filter((folder) => !isKnown(folder))).toEqual([]);
});

test("no test hides in a file that vitest does not run", () => {
  const strays = files.filter(
    (file) => /\.(spec|tests?)\.[cm]?[jt]sx?$/.test(file) && !file.endsWith(".test.ts"),
  );
  expect(strays).toEqual([]);
});

test("no unit test opens a socket, a database or a browser, or starts a service", () => {
  const unitTests = testFiles.filter((file) => !/\.(service|system)\.test\.ts$/.test(file));
  const violations = unitTests.flatMap((file) =>
    NOT_UNIT.filter((name) => importsOf(file).has(name)).map((name) => `${file} imports ${name}`),
  );
  expect(violations).toEqual([]);
});

/** What a file imports: packages by name, files relative to test/. Follows imports within test/. */
function importsOf(file: string, found = new Set<string>()): ReadonlySet<string> {
  const source = readFileSync(join(import.meta.dirname, file), "utf8");
  for (const [, name] of source.matchAll(/^import\s(?!type\s)[^;]*?"([^"]+)";/gm)) {
    const target = name!.startsWith(".") ? join(dirname(file), name!) : name!;
    if (found.has(target)) continue;
    found.add(target);
    if (target.startsWith("support/") && target.endsWith(".ts")) importsOf(target, found);
  }
  return found;
}
