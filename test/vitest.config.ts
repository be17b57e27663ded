import { defineConfig } from "vitest/config";

// The edge tests read descriptors, memory and sockets of the service from /proc.
const hasProc = process.platform === "linux";
if (!hasProc) console.warn("Tests in test/edge need Linux and are skipped.");

const TIMEOUTS = { testTimeout: 60_000, hookTimeout: 120_000 };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...TIMEOUTS,
          name: "tests",
          dir: "test",
          include: ["**/*.test.ts"],
          exclude: ["edge/**"],
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Attacks on a service: they load the machine and measure time, so they run last and one file at a time.
        test: {
          ...TIMEOUTS,
          name: "edge",
          dir: "test/edge",
          include: hasProc ? ["**/*.test.ts"] : [],
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
