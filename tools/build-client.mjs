// Builds the package @visage/client from src/client, src/search and gen/ts into sdks/typescript/dist. `npm pack` and
// `npm publish` in sdks/typescript run this first.
import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { compileKernels } from "./kernels.mjs";

const ROOT = join(import.meta.dirname, "..");
const PACKAGE = join(ROOT, "sdks/typescript");
const KERNELS = "src/search";

await compileKernels();
rmSync(join(PACKAGE, "dist"), { recursive: true, force: true });
const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
execFileSync(process.execPath, [compiler, "--project", PACKAGE], { stdio: "inherit" });
for (const file of ["kernels.wasm.js", "kernels.wasm.d.ts"])
  cpSync(join(ROOT, KERNELS, file), join(PACKAGE, "dist", KERNELS, file));
for (const file of ["LICENSE", "NOTICE"]) cpSync(join(ROOT, file), join(PACKAGE, file));
