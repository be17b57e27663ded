import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

/**
 * Counts the cores that this process may use: those of its CPU affinity, or fewer if its container has a CPU quota.
 * Node 20 does not know quotas.
 */
export function countCpus(cgroupDir = "/sys/fs/cgroup"): number {
  const quota = readQuota(cgroupDir) ?? Number.POSITIVE_INFINITY;
  return Math.max(1, Math.min(availableParallelism(), Math.floor(quota)));
}

/** Reads the CPU quota of cgroup version 2 or 1 in cores, or undefined if there is none. */
function readQuota(dir: string): number | undefined {
  const [quota, period] = readNumbers(join(dir, "cpu.max")) ?? [
    ...(readNumbers(join(dir, "cpu/cpu.cfs_quota_us")) ?? []),
    ...(readNumbers(join(dir, "cpu/cpu.cfs_period_us")) ?? []),
  ];
  return quota && period && quota > 0 && period > 0 ? quota / period : undefined;
}

/** Reads the numbers in a file; "max" becomes NaN. */
function readNumbers(path: string): number[] | undefined {
  try {
    return readFileSync(path, "utf8").trim().split(/\s+/).map(Number);
  } catch {
    return undefined;
  }
}
