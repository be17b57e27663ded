import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

/** Where `.ci/install` installs programs. */
export const TOOLS_DIR = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "visage-tools");

// In CI a missing program must fail its tests.
const isCi = process.env.CI === "true";

/** Third-party programs that tests run. */
export interface Tools<Name extends string> {
  /** Whether to run the tests: false if a program is missing, except in CI, where the tests fail. */
  readonly wanted: boolean;
  readonly paths: Readonly<Record<Name, string>>;
}

/** Finds programs in TOOLS_DIR and PATH. */
export function findTools<Name extends string>(...names: Name[]): Tools<Name> {
  const folders = [join(TOOLS_DIR, "bin"), ...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  const find = (name: string) => folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  const found = names.map((name) => [name, find(name)] as const);
  const missing = found.filter(([, path]) => !path).map(([name]) => name);
  if (missing.length > 0 && !isCi)
    console.warn(`Not found: ${missing.join(", ")}. Tests that need them are skipped (see .ci/install).`);
  return {
    wanted: missing.length === 0 || isCi,
    // The path of a missing program is its name, so that the failure in CI shows it.
    paths: Object.fromEntries(found.map(([name, path]) => [name, path ?? name])) as Record<Name, string>,
  };
}
