// Compiles the kernels, and the TypeScript into dist/, and bundles the web pages; with --if-stale only if a source is
// newer than dist/. A build replaces dist/ when it is complete, and only one runs at a time. A production install has no
// compiler and needs none (its dist/ comes with the package), so there this step says so and succeeds.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, renameSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { CLI, DIST, DIST_LOCK, isStale, workFolder } from "./dist.mjs";
import { compileKernels, KERNEL_FOLDERS } from "./kernels.mjs";
import { withLock } from "./process-lock.mjs";

const isOptional = process.argv.includes("--if-stale");

const compiler = findCompiler();
if (!compiler) console.log("build: no TypeScript compiler installed, dist/ is left as it is");
else
  await withLock(DIST_LOCK, async () => {
    if (!isOptional || isStale()) await build();
  });

function findCompiler() {
  try {
    return join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  } catch {
    return undefined;
  }
}

async function build() {
  const target = workFolder("build");
  try {
    await compileKernels();
    // A source that changes from now on may be missing in this build.
    const start = new Date();
    await compile(target);
    utimesSync(join(target, CLI), start, start);
    replaceDist(target);
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    console.error(error.code === "ERR_MODULE_NOT_FOUND" ? `build: ${error.message}. Run "npm ci".` : error);
    process.exitCode = 1;
  }
}

async function compile(target) {
  runNode(compiler, "--project", "tsconfig.json", "--outDir", target);
  // Only checks types: the pages are bundled below.
  runNode(compiler, "--project", "src/web/tsconfig.json");
  for (const folder of KERNEL_FOLDERS)
    for (const file of ["kernels.wasm.js", "kernels.wasm.d.ts"])
      cpSync(join(folder, file), join(target, folder, file));
  runNode(join(target, "tools/reference/write.js"), join(target, "src/web/docs/reference.html"));
  const { buildPages } = await import("./build-pages.mjs");
  await buildPages(join(target, "src/web"));
  chmodSync(join(target, CLI), 0o755);
}

function runNode(...args) {
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) throw new Error(`${args[0]} failed.`);
}

function replaceDist(target) {
  const old = workFolder("old");
  if (existsSync(DIST)) renameSync(DIST, old);
  renameSync(target, DIST);
  rmSync(old, { recursive: true, force: true });
  // npm links the commands of dependencies but not a package's own: this lets `npx visage` work in a checkout.
  rmSync("node_modules/.bin/visage", { force: true });
  symlinkSync("../../dist/src/cli/main.js", "node_modules/.bin/visage");
}
