import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// Three tiers, by file name. CONTRIBUTING.md says what each may use.
//   NAME.test.ts          unit
//   NAME.service.test.ts  service
//   NAME.system.test.ts   system
const SERVICE = "**/*.service.test.ts";
const SYSTEM = "**/*.system.test.ts";

// Attacks load the machine and measure time, memory and sockets, so they run last and one file at a time.
const ATTACKS = ["edge/**/*.system.test.ts", "rest/event-loop.system.test.ts"];
// Those of test/edge read /proc.
const hasProc = process.platform === "linux";
if (!hasProc) console.warn("Tests in test/edge need Linux and are skipped.");

/** Vitest leaves one core idle by default, which is half of a machine with two. */
const ALL_CORES = "100%";

/** Service and system tests wait for timers and other processes about a third of the time. */
const MORE_THAN_CORES = Math.ceil(1.5 * availableParallelism());

/** How long `expect.poll` waits. The default of a second is too short for a busy machine. */
const POLLING = { expect: { poll: { timeout: 15_000 } } };

/** What service and system tests share: a current dist/ and time for slow machines. */
const BUILT = {
  ...POLLING,
  dir: "test",
  globalSetup: "test/support/build.ts",
  testTimeout: 120_000,
  hookTimeout: 120_000,
};

export default defineConfig({
  test: {
    globalSetup: "test/support/compile-kernels.mjs",
    projects: [
      {
        test: {
          ...POLLING,
          name: "unit",
          dir: "test",
          include: ["**/*.test.ts"],
          exclude: [SERVICE, SYSTEM],
          testTimeout: 20_000,
          // A quarter less time than processes. What needs a process of its own is a service test.
          pool: "threads",
          maxWorkers: ALL_CORES,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...BUILT,
          name: "service",
          include: [SERVICE],
          maxWorkers: MORE_THAN_CORES,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...BUILT,
          name: "system",
          include: [SYSTEM],
          exclude: ATTACKS,
          maxWorkers: MORE_THAN_CORES,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...BUILT,
          name: "system-attacks",
          include: ATTACKS,
          exclude: hasProc ? [] : ["edge/**"],
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
