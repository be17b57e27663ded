import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Creates a temporary folder that is deleted when this process exits. */
export function createTempDir(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
