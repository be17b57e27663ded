import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

/** The parts of the project that each part may import, besides itself and `gen`. Every source file is in a part. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  gen: [],
  models: [],
  "src/bytes": [],
  "src/fetch": [],
  "src/permissions.ts": [],
  "src/plan-limits.ts": [],
  "src/processes": [],
  "src/database": ["src/plan-limits.ts", "src/processes"],
  "src/accounts": ["src/database", "src/permissions.ts", "src/plan-limits.ts"],
  "src/telemetry": [],
  "src/audit": ["src/telemetry"],
  "src/client": [],
  "src/web": ["models", "src/permissions.ts", "src/plan-limits.ts"],
  "src/search": [],
  "src/galleries": ["src/core", "src/database", "src/plan-limits.ts", "src/processes", "src/search"],
  "src/core": [],
  "src/package-root.ts": [],
  "src/resource-stack.ts": [],
  "src/secret-files.ts": [],
  "src/unknown-variables.ts": [],
  "src/workers": ["src/core", "src/processes"],
  "src/rest": ["src/bytes"],
  "src/service": [
    "src/accounts",
    "src/audit",
    "src/bytes",
    "src/core",
    "src/fetch",
    "src/galleries",
    "src/permissions.ts",
    "src/plan-limits.ts",
    "src/workers",
  ],
  "src/http": [
    "src/accounts",
    "src/bytes",
    "src/permissions.ts",
    "src/rest",
    "src/service",
    "src/telemetry",
    "src/web",
  ],
  "src/setting-parsers.ts": ["src/accounts", "src/core", "src/fetch", "src/galleries", "src/permissions.ts"],
  "src/config.ts": [
    "src/audit",
    "src/core",
    "src/fetch",
    "src/http",
    "src/permissions.ts",
    "src/secret-files.ts",
    "src/setting-parsers.ts",
    "src/telemetry",
    "src/unknown-variables.ts",
    "src/workers",
  ],
  "src/services.ts": [
    "src/audit",
    "src/http",
    "src/permissions.ts",
    "src/rest",
    "src/service",
    "src/telemetry",
  ],
  "src/monitoring.ts": [
    "src/accounts",
    "src/audit",
    "src/config.ts",
    "src/database",
    "src/galleries",
    "src/http",
    "src/package-root.ts",
    "src/telemetry",
    "src/workers",
  ],
  "src/gallery-searching.ts": [
    "src/audit",
    "src/config.ts",
    "src/core",
    "src/galleries",
    "src/model-pools.ts",
    "src/service",
    "src/telemetry",
  ],
  "src/model-pools.ts": ["src/config.ts", "src/core", "src/telemetry", "src/workers"],
  "src/main.ts": [
    "src/accounts",
    "src/audit",
    "src/config.ts",
    "src/core",
    "src/database",
    "src/fetch",
    "src/galleries",
    "src/gallery-searching.ts",
    "src/http",
    "src/model-pools.ts",
    "src/monitoring.ts",
    "src/resource-stack.ts",
    "src/service",
    "src/services.ts",
    "src/telemetry",
    "src/workers",
  ],
};

/** The programs around the service. They may import every layer, and these other programs. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  tools: [],
  "src/cli": [],
  bench: ["tools"],
};
/** Packages that import nothing of the rest. */
const PACKAGES = ["sdks"];

/** The parts that a part imports, directly or not. */
function reachableFrom(part: string, seen = new Set<string>()): ReadonlySet<string> {
  for (const next of LAYERS[part] ?? [])
    if (!seen.has(next)) {
      seen.add(next);
      reachableFrom(next, seen);
    }
  return seen;
}

function mayImport(part: string, target: string): boolean {
  const programs = PROGRAMS[part];
  const allowed = programs ? [...Object.keys(LAYERS), ...programs] : (LAYERS[part] ?? []);
  return [part, "gen", ...allowed].includes(target);
}

/** Packages that only one file may import. */
const SINGLE_IMPORTER: Readonly<Record<string, string>> = { "onnxruntime-node": "src/core/networks.ts" };

/** What other parts import of the core. */
const CORE_SURFACE = "src/core/index.ts";

const PARTS = [...Object.keys(LAYERS), ...Object.keys(PROGRAMS), ...PACKAGES];
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

describe("the layers", () => {
  test("every source file belongs to a known part", () => {
    expect(files.filter((file) => !PARTS.includes(partOf(file)))).toEqual([]);
    expect(files.length).toBeGreaterThan(30);
  });

  test.each(PARTS)("%s imports only what it may", (part) => {
    const wrong = files
      .filter((file) => partOf(file) === part)
      .flatMap((file) => ownImportsOf(file).map((target) => ({ file, target })))
      .filter(({ target }) => !mayImport(part, partOf(target)))
      .map(({ file, target }) => `${file} imports ${target}`);
    expect(wrong).toEqual([]);
  });

  test.each(Object.keys(LAYERS))("%s does not depend on itself", (part) => {
    expect([...reachableFrom(part)]).not.toContain(part);
  });

  test.each([...Object.keys(LAYERS), "src/cli"].filter((part) => part !== "src/core"))(
    "%s imports the core by its public surface",
    (part) => {
      const deep = files
        .filter((file) => partOf(file) === part)
        .flatMap((file) => ownImportsOf(file).map((target) => ({ file, target })))
        .filter(({ target }) => partOf(target) === "src/core" && target !== CORE_SURFACE)
        .map(({ file, target }) => `${file} imports ${target}`);
      expect(deep).toEqual([]);
    },
  );

  test("no file imports itself by way of others", () => {
    const imports = new Map(files.map((file) => [file, ownImportsOf(file)]));
    const done = new Set<string>();
    const visit = (file: string, path: readonly string[]): readonly string[] | undefined => {
      if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
      if (done.has(file)) return undefined;
      for (const next of imports.get(file) ?? []) {
        const circle = visit(next, [...path, file]);
        if (circle) return circle;
      }
      done.add(file);
      return undefined;
    };
    expect(files.map((file) => visit(file, [])).find(Boolean)).toBeUndefined();
  });

  test.each(Object.entries(SINGLE_IMPORTER))("%s is imported by %s alone", (name, importer) => {
    expect(files.filter((file) => importsOf(file).includes(name))).toEqual([importer]);
  });
});
