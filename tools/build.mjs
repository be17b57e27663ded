// Compiles the kernels, and the TypeScript into dist/, and bundles the web pages. A production install has no compiler and needs none
// (its dist/ comes with the package), so there this step says so and succeeds.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { compileKernels, KERNEL_FOLDERS } from "./kernels.mjs";

let compiler;
try {
  compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
} catch {
  console.log("build: no TypeScript compiler installed, dist/ is left as it is");
  process.exit(0);
}
await compileKernels();
rmSync("dist", { recursive: true, force: true });
// The second one only checks types: the pages are bundled below.
for (const project of ["tsconfig.json", "src/web/tsconfig.json"]) {
  runNode(compiler, "--project", project);
}
for (const folder of KERNEL_FOLDERS)
  for (const file of ["kernels.wasm.js", "kernels.wasm.d.ts"])
    cpSync(join(folder, file), join("dist", folder, file));
runNode("dist/tools/reference/write.js", "dist/src/web/docs/reference.html");
try {
  const { buildPages } = await import("./build-pages.mjs");
  await buildPages();
} catch (error) {
  console.error(error.code === "ERR_MODULE_NOT_FOUND" ? `build: ${error.message}. Run "npm ci".` : error);
  discardBuild(1);
}
chmodSync("dist/src/cli/main.js", 0o755);

// npm links the commands of dependencies but not a package's own: this lets `npx visage` work in a checkout.
rmSync("node_modules/.bin/visage", { force: true });
symlinkSync("../../dist/src/cli/main.js", "node_modules/.bin/visage");

function runNode(...args) {
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) discardBuild(status ?? 1);
}

/** Ends the program. Half a build must not pass for a current one. */
function discardBuild(status) {
  rmSync("dist", { recursive: true, force: true });
  process.exit(status);
}
