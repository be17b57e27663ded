import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Whether this process may mount file systems. */
export const canMount =
  process.getuid?.() === 0 &&
  spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;

/** Mounts a small file system at a folder until the test ends. `size` is like "4m". */
export function mountDisk(folder: string, size: string): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "visage-test", folder]);
  onTestFinished(() => void execFileSync("umount", ["--lazy", folder]));
}

/** Fills a file system to the last byte. Returns the path of the file that does. */
export function fillDisk(disk: string): string {
  const path = join(disk, "ballast");
  for (let bytes = 1024 * 1024; bytes >= 1; bytes = Math.floor(bytes / 2))
    try {
      for (;;) writeFileSync(path, Buffer.alloc(bytes), { flag: "a" });
    } catch {
      // Try a smaller part.
    }
  return path;
}
