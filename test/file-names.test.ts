// The rules for the names and places of test files. `npm run check` runs this. Biome checks that names are kebab-case.
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

/** The name of a test file: what it tests, then its tier unless that is unit. */
const TEST_FILE = /^[a-z0-9-]+(\.service|\.system)?\.test\.ts$/;

/** Folders of test/ that mirror no folder of code. */
const OTHER_FOLDERS = ["edge", "support"];

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
