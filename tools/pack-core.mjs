// Packs the inference core, the worker pool and the networks as the package @visage/core: `npm run pack:core`.
// Writes visage-core-VERSION.tgz to the current folder, or to the one given as argument.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const DEPENDENCIES = ["onnxruntime-node", "sharp"];
const { version, license, repository, engines, dependencies } = JSON.parse(
  readFileSync(join(ROOT, "package.json"), "utf8"),
);

const manifest = {
  name: "@visage/core",
  version,
  description:
    "Face analysis in Node: match, attributes, 68 landmarks and 128-number embeddings, with the networks.",
  license,
  repository,
  type: "module",
  engines,
  exports: {
    ".": { types: "./dist/core/index.d.ts", default: "./dist/core/index.js" },
    "./pool": { types: "./dist/workers/pool.d.ts", default: "./dist/workers/pool.js" },
    "./package.json": "./package.json",
  },
  scripts: { preinstall: "node skip-cuda-download.mjs" },
  dependencies: Object.fromEntries(DEPENDENCIES.map((name) => [name, `^${dependencies[name]}`])),
};

const folder = mkdtempSync(join(tmpdir(), "visage-core-"));
try {
  const copy = (from, to) => cpSync(join(ROOT, from), join(folder, to), { recursive: true, filter });
  for (const part of ["core", "processes", "workers"]) copy(`dist/src/${part}`, `dist/${part}`);
  for (const name of ["models", "LICENSE", "NOTICE"]) copy(name, name);
  copy("src/core/README.md", "README.md");
  copy("tools/skip-cuda-download.mjs", "skip-cuda-download.mjs");
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const target = resolve(process.argv[2] ?? ".");
  // The default log level lists every file on standard error.
  const options = ["--ignore-scripts", "--loglevel", "error", "--pack-destination", target];
  execFileSync("npm", ["pack", ...options], { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The sources to which source maps refer are not in the package. */
function filter(file) {
  return !file.endsWith(".map");
}
