import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { variableNames } from "../src/config.ts";
import { PACKAGE_ROOT, readManifest } from "../src/model-manifest.ts";
import { ERRORS, type ErrorKind, reasonFromKind } from "../src/service/error-table.ts";

const readme = readFileSync(join(PACKAGE_ROOT, "README.md"), "utf8");

/** The rows below a heading, as cells without their back ticks. */
function tableUnder(heading: string): string[][] {
  const section = readme.split(`\n## ${heading}\n`)[1]!.split("\n## ")[0]!;
  const [, , ...rows] = section.split("\n").filter((line) => line.startsWith("|"));
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
}

test("the README lists the networks as the manifest does", () => {
  const networks = Object.entries(readManifest()).map(([name, { title, licence, source }]) => [
    name,
    title,
    licence,
    source.package ?? "this repository",
  ]);
  expect(tableUnder("Networks")).toEqual(networks);
});

test("the README lists every variable of the configuration", () => {
  expect(tableUnder("Settings").map(([name]) => name)).toEqual(variableNames());
});

test("the README lists every error as the table has it", () => {
  const rows = Object.entries(ERRORS).map(([kind, { code, grpc, http, retryable }]) => [
    reasonFromKind(kind as ErrorKind),
    code,
    Code[grpc].replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toUpperCase(),
    String(http),
    retryable ? "yes" : "no",
  ]);
  expect(tableUnder("Errors")).toEqual(rows);
});

test("the README names scripts that exist", () => {
  const { scripts } = JSON.parse(readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const named = [...readme.matchAll(/npm (?:run )?(start|test|models|check|accuracy)\b/g)].map(
    ([, name]) => name!,
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});
