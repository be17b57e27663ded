// Global set-up of the service and system tests: workers, the command line and the pages run from dist/. A source that
// is newer than the last build would otherwise be tested by its old compilation.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";

const CLI = "dist/src/cli/main.js";
const SOURCES = ["src", "gen/ts", "bench", "tools", "tsconfig.json", "package.json"];

/** Builds dist/ if it is older than its sources. */
export function setup(): void {
  if (isStale())
    execFileSync(process.execPath, ["tools/build.mjs"], { cwd: PACKAGE_ROOT, stdio: ["ignore", 2, 2] });
}

function isStale(): boolean {
  const cli = join(PACKAGE_ROOT, CLI);
  if (!existsSync(cli)) return true;
  const builtMs = statSync(cli).mtimeMs;
  return SOURCES.some((source) => newestMs(join(PACKAGE_ROOT, source)) > builtMs);
}

/** When a file, or anything in a folder, last changed. A folder changes when a file in it is added or removed. */
function newestMs(path: string): number {
  const status = statSync(path);
  if (!status.isDirectory()) return status.mtimeMs;
  const names = readdirSync(path).filter((name) => name !== "node_modules");
  return Math.max(status.mtimeMs, ...names.map((name) => newestMs(join(path, name))));
}
