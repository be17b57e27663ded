// Where the compiled project lies, and whether it is current.
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "./process-lock.mjs";

const ROOT = join(import.meta.dirname, "..");
export const DIST = join(ROOT, "dist");
/** The program that starts everything. Its time is that of the build. */
export const CLI = "src/cli/main.js";

export const DIST_LOCK = join(ROOT, ".dist-lock");

/** Everything that the build reads, apart from installed packages. */
const SOURCES = [
  "src",
  "gen",
  "bench",
  "tools",
  "tsconfig.json",
  "package.json",
  "package-lock.json",
  "SECURITY.md",
];

/** Whether a source is newer than dist/. */
export function isStale() {
  const cli = join(DIST, CLI);
  if (!existsSync(cli)) return true;
  const builtMs = statSync(cli).mtimeMs;
  return SOURCES.some((source) => newestMs(join(ROOT, source)) >= builtMs);
}

/**
 * When a file, or anything in a folder, last changed; 0 if it does not exist. A folder changes when a file in it is added
 * or removed.
 */
function newestMs(path) {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status) return 0;
  if (!status.isDirectory()) return status.mtimeMs;
  const names = readdirSync(path).filter((name) => name !== "node_modules");
  return Math.max(status.mtimeMs, ...names.map((name) => newestMs(join(path, name))));
}

/**
 * Returns the path of a new folder of this process, and removes those of processes that have ended. It lies beside dist/,
 * because the compiled code finds other files of the project by relative paths.
 */
export function workFolder(purpose) {
  for (const name of readdirSync(ROOT)) {
    const owner = /^\.dist-[a-z]+-(\d+)$/.exec(name)?.[1];
    if (owner && !isRunning(Number(owner))) rmSync(join(ROOT, name), { recursive: true, force: true });
  }
  const folder = join(ROOT, `.dist-${purpose}-${process.pid}`);
  rmSync(folder, { recursive: true, force: true });
  return folder;
}
