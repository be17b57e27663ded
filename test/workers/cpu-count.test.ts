import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { countCpus } from "../../src/workers/cpu-count.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "visage-cgroup-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

function write(name: string, text: string): void {
  mkdirSync(dirname(join(dir, name)), { recursive: true });
  writeFileSync(join(dir, name), text);
}

test("counts all cores without a quota", () => {
  expect(countCpus(dir)).toBe(availableParallelism());
  write("cpu.max", "max 100000\n");
  expect(countCpus(dir)).toBe(availableParallelism());
});

test.each([
  ["100000 100000", 1],
  ["150000 100000", 1],
  ["20000 100000", 1],
])("a quota of %s allows %i", (text, cores) => {
  write("cpu.max", `${text}\n`);
  expect(countCpus(dir)).toBe(cores);
});

test("reads the quota of cgroup version 1, where -1 is none", () => {
  write("cpu/cpu.cfs_period_us", "100000\n");
  write("cpu/cpu.cfs_quota_us", "100000\n");
  expect(countCpus(dir)).toBe(1);
  write("cpu/cpu.cfs_quota_us", "-1\n");
  expect(countCpus(dir)).toBe(availableParallelism());
});
