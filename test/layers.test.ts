import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

/**
 * What each part may import of ours, besides itself and `gen`. A part that may import another one may also import
 * whatever that one may. Parts not listed here do not exist.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  gen: [],
  "src/core": ["src/wasm"],
  "src/wasm": [],
  "src/bytes": [],
  "src/fetch": [],
  "src/accounts": [],
  "src/telemetry": [],
  "src/client": [],
  "src/search": ["src/wasm"],
  "src/web": [],
  "src/model-manifest.ts": [],
  "src/workers": ["src/core"],
  "src/rest": ["src/bytes"],
  "src/service": ["src/bytes", "src/workers", "src/fetch"],
  "src/http": ["src/accounts", "src/config.ts", "src/rest", "src/service", "src/telemetry", "src/web"],
  "src/config.ts": ["src/accounts", "src/http", "src/model-manifest.ts", "src/fetch", "src/telemetry"],
  "src/main.ts": ["src/config.ts"],
  "src/cli": ["src/main.ts", "tools"],
  sdks: [],
  tools: ["src/main.ts", "src/client"],
  bench: ["src/main.ts", "src/search", "tools"],
};

/** The parts that a part may import, directly or not. */
function reachableFrom(part: string, seen = new Set([part, "gen"])): ReadonlySet<string> {
  for (const next of MAY_IMPORT[part]!)
    if (!seen.has(next)) {
      seen.add(next);
      reachableFrom(next, seen);
    }
  return seen;
}

/** Packages that only one file may import. */
const SINGLE_DOOR: Readonly<Record<string, string>> = { "onnxruntime-node": "src/core/networks.ts" };

const PARTS = Object.keys(MAY_IMPORT);
const files = ["src", "gen", "bench", "tools", "sdks"].flatMap((folder) =>
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
      .filter(({ target }) => !reachableFrom(part).has(partOf(target)))
      .map(({ file, target }) => `${file} imports ${target}`);
    expect(wrong).toEqual([]);
  });

  test.each(Object.entries(SINGLE_DOOR))("%s is imported by %s alone", (name, door) => {
    expect(files.filter((file) => importsOf(file).includes(name))).toEqual([door]);
  });

  test("only the configuration reads the environment, and workers get what their runtime needs of it", () => {
    const users = files.filter((file) => readFileSync(join(ROOT, file), "utf8").includes("process.env"));
    expect(users).toEqual(["src/config.ts", "src/workers/worker-process.ts"]);
    const workers = readFileSync(join(ROOT, "src/workers/worker-process.ts"), "utf8");
    expect(workers.match(/.*process\.env.*/g)).toEqual([
      "      env: { ...passedVariables(process.env), ...ONE_THREAD },",
    ]);
  });
});
