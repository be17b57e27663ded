import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withLock } from "../../tools/process-lock.mjs";
import { TOOLS_DIR } from "./tools.ts";

/** Where tests keep what they download and compile. Not in node_modules, which `npm ci` removes. */
export const TOOL_CACHE = join(TOOLS_DIR, "tests");

/**
 * Returns a folder of the cache that belongs to a text with pinned versions. If it does not exist yet, `fill` fills it;
 * after a failure the next call starts again.
 */
export async function installTool(
  name: string,
  pins: string,
  fill: (target: string) => Promise<void>,
): Promise<string> {
  const digest = createHash("sha256").update(pins).digest("hex");
  const target = join(TOOL_CACHE, `${name}-${digest.slice(0, 12)}`);
  const stamp = join(target, "installed");
  return withLock(`${target}.lock`, async () => {
    const isInstalled = await readFile(stamp).then(
      () => true,
      () => false,
    );
    if (isInstalled) return target;
    await rm(target, { recursive: true, force: true });
    await mkdir(target, { recursive: true });
    await fill(target);
    await writeFile(stamp, "");
    return target;
  });
}
