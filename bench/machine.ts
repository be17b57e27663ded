import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { arch, availableParallelism, cpus, platform, release, totalmem } from "node:os";
import { PACKAGE_ROOT } from "../src/package-root.ts";

/** Describes the conditions of a benchmark run: machine, system, Node, commit, date, and steal time on a virtual machine. */
export function describeRun(): string {
  const [cpu] = cpus();
  const model = cpu?.model && cpu.model !== "unknown" ? cpu.model : `unknown ${arch()} CPU`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const machine = `${availableParallelism()} cores (${model}), ${memory}`;
  return `${machine}, ${platform()} ${release()} ${arch()}, Node ${process.version}; commit ${commit()}, ${today()}.${stealTime()}`;
}

/** CPU time of the machine so far, in ticks: busy time including steal time, and steal time alone. */
export interface CpuTicks {
  readonly busy: number;
  readonly steal: number;
}

const ticksAtStart = readTicks();

/** Reads the CPU time of the machine; undefined on systems without /proc. */
export function readTicks(): CpuTicks | undefined {
  if (!existsSync("/proc/stat")) return undefined;
  const [total] = readFileSync("/proc/stat", "utf8").split("\n", 1);
  const [, user, nice, system, , , irq, softirq, steal] = total!.split(/\s+/).map(Number);
  return { busy: user! + nice! + system! + irq! + softirq! + steal!, steal: steal! };
}

/** The share of CPU time that the hypervisor gave to other machines since this process started. */
function stealTime(): string {
  const now = readTicks();
  if (!now || !ticksAtStart) return "";
  const share = (now.steal - ticksAtStart.steal) / Math.max(1, now.busy - ticksAtStart.busy);
  return ` Steal time: ${(100 * share).toFixed(1)} % of the busy CPU time.`;
}

/** The checked-out commit, and whether the working tree differs from it. */
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
