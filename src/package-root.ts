import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Root folder of the package, for both the sources and the compiled code. */
export const PACKAGE_ROOT = findPackageRoot(import.meta.dirname);

/** Returns the version of the package. */
export function readVersion(): string {
  const text = readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

function findPackageRoot(start: string): string {
  let folder = start;
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}
