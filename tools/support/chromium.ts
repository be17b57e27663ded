import { spawnSync } from "node:child_process";

/** Returns the path of the installed Chromium; undefined if there is none. */
export function findChromium(): string | undefined {
  const { status, stdout } = spawnSync("which", ["chromium"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

/** Arguments of every Chromium: its sandbox does not run as root. */
export function sandboxArguments(): string[] {
  return process.getuid?.() === 0 ? ["--no-sandbox"] : [];
}
