// Starts the service: `npm start`. In a checkout it compiles the project if a source is newer than dist/, and runs a copy
// of dist/, so that a later build does not replace files that the service still loads. A published package has no
// sources, and its dist/ is never replaced.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const ROOT = join(import.meta.dirname, "..");
const BUILD = join(import.meta.dirname, "build.mjs");

const folder = existsSync(BUILD) ? await copyCurrentDist() : join(ROOT, "dist");
process.argv.splice(2, 0, "serve");
await import(pathToFileURL(join(folder, "src/cli/main.js")).href);

async function copyCurrentDist() {
  const { status } = spawnSync(process.execPath, [BUILD, "--if-stale"], { cwd: ROOT, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
  const { DIST, DIST_LOCK, workFolder } = await import("./dist.mjs");
  const { withLock } = await import("./process-lock.mjs");
  return withLock(DIST_LOCK, async () => {
    const copy = workFolder("run");
    process.once("exit", () => rmSync(copy, { recursive: true, force: true }));
    for (const part of ["src", "gen"])
      cpSync(join(DIST, part), join(copy, part), { recursive: true, filter: isUsed });
    return copy;
  });
}

function isUsed(path) {
  return !/\.(d\.ts|map)$/.test(path);
}
