import { execFileSync } from "node:child_process";
import { arch, availableParallelism, cpus, platform, release, totalmem } from "node:os";
import { PACKAGE_ROOT } from "../models/manifest.ts";

/** What measured figures depend on: machine, system, Node, the commit and the day. */
export function describeRun(): string {
  const [cpu] = cpus();
  const model = cpu?.model && cpu.model !== "unknown" ? cpu.model : `unnamed ${arch()} processor`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const machine = `${availableParallelism()} cores (${model}), ${memory}`;
  return `${machine}, ${platform()} ${release()} ${arch()}, Node ${process.version}; commit ${commit()}, ${today()}.`;
}

/** The commit that is checked out, and whether files differ from it. */
function commit(): string {
  try {
    const git = (...args: string[]) =>
      execFileSync("git", args, { cwd: PACKAGE_ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const changed = git("status", "--porcelain", "--", "src", "bench", "package.json").trim() !== "";
    return `${git("rev-parse", "--short", "HEAD").trim()}${changed ? " with changes" : ""}`;
  } catch {
    return "unknown";
  }
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
