import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

/** What each part of the house may import of ours, besides itself. Parts not listed here do not exist. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  gen: [],
  models: ["gen"],
  "src/wasm": [],
  "src/core": ["src/wasm"],
  "src/bytes": [],
  "src/rest": ["gen", "src/bytes"],
  "src/service": ["gen", "src/bytes", "src/core", "src/fetch"],
  "src/fetch": [],
  "src/accounts": [],
  "src/ops": ["gen"],
  "src/web/playground": [],
  "src/web": ["gen"],
  "src/client": ["gen"],
  "src/search": ["src/wasm"],
  "src/cpu-count.ts": [],
  "src/http": [
    "gen",
    "src/accounts",
    "src/config.ts",
    "src/core",
    "src/fetch",
    "src/ops",
    "src/rest",
    "src/service",
    "src/web",
  ],
  "src/config.ts": ["models", "src/accounts", "src/cpu-count.ts", "src/fetch", "src/http", "src/ops"],
  "src/main.ts": [
    "models",
    "src/accounts",
    "src/config.ts",
    "src/core",
    "src/cpu-count.ts",
    "src/fetch",
    "src/http",
    "src/ops",
  ],
  "src/commands": ["src/core", "src/accounts", "src/ops", "src/config.ts", "src/main.ts", "models"],
  "src/cli.ts": ["src/commands", "models"],
  bench: [
    "gen",
    "models",
    "src/core",
    "src/service",
    "src/accounts",
    "src/fetch",
    "src/ops",
    "src/search",
    "src/config.ts",
    "src/http",
  ],
  proto: ["gen", "models", "src/rest", "src/service"],
};

/** Packages that only one file may import. */
const SINGLE_DOOR: Readonly<Record<string, string>> = { "onnxruntime-node": "src/core/networks.ts" };

const PARTS = Object.keys(MAY_IMPORT);
const files = ["src", "models", "gen", "bench", "proto"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.includes("node_modules"))
    .map((name) => join(folder, name)),
);

function partOf(file: string): string {
  return PARTS.find((part) => file === part || file.startsWith(`${part}/`)) ?? file;
}

function importsOf(file: string): string[] {
  const source = readFileSync(join(ROOT, file), "utf8");
  const statements = source.matchAll(/(?:^|\n)(?:import|export)[^;]*?from\s+"([^"]+)"|import\("([^"]+)"\)/g);
  return [...statements].map(([, fixed, lazy]) => (fixed ?? lazy)!);
}

function ownImportsOf(file: string): string[] {
  return importsOf(file)
    .filter((name) => name.startsWith("."))
    .map((name) => relative(ROOT, join(ROOT, dirname(file), name)));
}

describe("the directions of the house", () => {
  test("every source file belongs to a known part", () => {
    expect(files.filter((file) => !PARTS.includes(partOf(file)))).toEqual([]);
    expect(files.length).toBeGreaterThan(30);
  });

  test.each(PARTS)("%s imports only what it may", (part) => {
    const wrong = files
      .filter((file) => partOf(file) === part)
      .flatMap((file) => ownImportsOf(file).map((target) => ({ file, target })))
      .filter(({ target }) => partOf(target) !== part && !MAY_IMPORT[part]!.includes(partOf(target)))
      .map(({ file, target }) => `${file} imports ${target}`);
    expect(wrong).toEqual([]);
  });

  test.each(Object.entries(SINGLE_DOOR))("%s is imported by %s alone", (name, door) => {
    expect(files.filter((file) => importsOf(file).includes(name))).toEqual([door]);
  });

  test("only the configuration reads the environment, and workers get what their runtime needs of it", () => {
    const users = files.filter((file) => readFileSync(join(ROOT, file), "utf8").includes("process.env"));
    expect(users).toEqual(["src/config.ts", "src/core/worker-process.ts"]);
    const workers = readFileSync(join(ROOT, "src/core/worker-process.ts"), "utf8");
    expect(workers.match(/.*process\.env.*/g)).toEqual([
      "      env: { ...passedVariables(process.env), ...ONE_THREAD },",
    ]);
  });
});
