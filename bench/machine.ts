import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { arch, availableParallelism, cpus, platform, release, totalmem } from "node:os";
import { PACKAGE_ROOT } from "../src/model-manifest.ts";

/** What measured figures depend on: machine, system, Node, the commit and the day, and the host of a virtual machine. */
export function describeRun(): string {
  const [cpu] = cpus();
  const model = cpu?.model && cpu.model !== "unknown" ? cpu.model : `unnamed ${arch()} processor`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const machine = `${availableParallelism()} cores (${model}), ${memory}`;
  return `${machine}, ${platform()} ${release()} ${arch()}, Node ${process.version}; commit ${commit()}, ${today()}.${shareOfHost()}`;
}

/** Processors' time so far in Linux's ticks: what was wanted here, and how much of that a host gave to others. */
interface Ticks {
  readonly wanted: number;
  readonly stolen: number;
}

const atStart = readTicks();

function readTicks(): Ticks | undefined {
  if (!existsSync("/proc/stat")) return undefined;
  const [total] = readFileSync("/proc/stat", "utf8").split("\n", 1);
  const [, user, nice, system, , , hard, soft, stolen] = total!.split(/\s+/).map(Number);
  return { wanted: user! + nice! + system! + hard! + soft! + stolen!, stolen: stolen! };
}

/** What figures lost to others on the same host since this process began. */
function shareOfHost(): string {
  const now = readTicks();
  if (!now || !atStart) return "";
  const share = (now.stolen - atStart.stolen) / Math.max(1, now.wanted - atStart.wanted);
  return ` Of the processors' time that was wanted meanwhile, the host gave ${(100 * share).toFixed(1)} % to others.`;
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
