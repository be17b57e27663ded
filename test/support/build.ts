// Global set-up of the service and system tests: workers, the command line and the pages run from dist/. A source that
// is newer than the last build would otherwise be tested by its old compilation.
import { execFileSync } from "node:child_process";
import { PACKAGE_ROOT } from "../../src/package-root.ts";

/** Builds dist/ if it is older than its sources. */
export function setup(): void {
  execFileSync(process.execPath, ["tools/build.mjs", "--if-stale"], {
    cwd: PACKAGE_ROOT,
    stdio: ["ignore", 2, 2],
  });
}
