import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

/**
 * How many cores this process may keep busy: those it may run on, or fewer where its container has a quota.
 * Node itself learned of quotas only after version 20.
 */
export function countCpus(cgroupDir = "/sys/fs/cgroup"): number {
  const quota = quotaOf(cgroupDir) ?? Number.POSITIVE_INFINITY;
  return Math.max(1, Math.min(availableParallelism(), Math.floor(quota)));
}

/** Cores by the quota of version 2 or 1 of control groups, or undefined where there is none. */
function quotaOf(dir: string): number | undefined {
  const [quota, period] = numbersIn(join(dir, "cpu.max")) ?? [
    ...(numbersIn(join(dir, "cpu/cpu.cfs_quota_us")) ?? []),
    ...(numbersIn(join(dir, "cpu/cpu.cfs_period_us")) ?? []),
  ];
  return quota && period && quota > 0 && period > 0 ? quota / period : undefined;
}

/** The numbers of a file; "max" is none. */
function numbersIn(path: string): number[] | undefined {
  try {
    return readFileSync(path, "utf8").trim().split(/\s+/).map(Number);
  } catch {
    return undefined;
  }
}
