import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

/** Where `.ci/install` puts what it installs. */
export const TOOLS_DIR = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "visage-tools");

// CI must not pass because a tool is missing.
const isCi = process.env.CI === "true";

/** Programs of other makers by name, as paths. */
export interface Tools<Name extends string> {
  /** Whether their tests are to run: without a tool they are passed over, except in CI, where they fail. */
  readonly wanted: boolean;
  readonly paths: Readonly<Record<Name, string>>;
}

/** Looks for programs in the path and among those installed for tests. */
export function findTools<Name extends string>(...names: Name[]): Tools<Name> {
  const folders = [join(TOOLS_DIR, "bin"), ...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  const find = (name: string) => folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  const found = names.map((name) => [name, find(name)] as const);
  const missing = found.filter(([, path]) => !path).map(([name]) => name);
  if (missing.length > 0 && !isCi)
    console.warn(`Not found: ${missing.join(", ")}. Tests that need them are skipped (see .ci/install).`);
  return {
    wanted: missing.length === 0 || isCi,
    // A missing one keeps its name, so that in CI its test fails by saying which it is.
    paths: Object.fromEntries(found.map(([name, path]) => [name, path ?? name])) as Record<Name, string>,
  };
}
