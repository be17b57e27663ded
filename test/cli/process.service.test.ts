import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";

const CLI = join(PACKAGE_ROOT, "dist/src/cli/main.js");

function start(args: readonly string[], env: NodeJS.ProcessEnv = {}, stdout: number | "pipe" = "pipe") {
  const child = spawn(process.execPath, [CLI, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", stdout, "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

test("the exit code of a command is that of its process", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "visage-process-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const outcomes = await Promise.all(
    [["plans", "list"], ["plans"], ["help"]].map(async (args) => {
      const child = start(args, { VISAGE_DATA_DIR: dataDir });
      const [[code], stderr] = await Promise.all([once(child, "close"), child.stderr!.toArray()]);
      return [code, stderr.join("").split("\n").length - 1];
    }),
  );
  expect(outcomes).toEqual([
    [1, 2],
    [2, 1],
    [0, 0],
  ]);
});

test("a command exits silently when its output is closed", async () => {
  const child = start(["--help"]);
  child.stdout!.destroy();
  const [[code], errors] = await Promise.all([once(child, "close"), child.stderr!.toArray()]);
  expect([code, errors.join("")]).toEqual([0, ""]);
});

test.skipIf(process.platform !== "linux")("a full disk is one line", async () => {
  const full = await open("/dev/full", "w");
  onTestFinished(() => full.close());
  const child = start(["--help"], {}, full.fd);
  const [[code], errors] = await Promise.all([once(child, "close"), child.stderr!.toArray()]);
  expect(errors.join("")).toMatch(/^visage: The output cannot be written: ENOSPC: .+\n$/);
  expect(code).toBe(1);
});

describe("serve", () => {
  const SETTINGS = { VISAGE_PORT: "0", VISAGE_METRICS_PORT: "off", VISAGE_LOG_LEVEL: "off" };
  const serve = async (settings: NodeJS.ProcessEnv) => {
    const dataDir = await mkdtemp(join(tmpdir(), "visage-process-"));
    onTestFinished(() => rm(dataDir, { recursive: true }));
    return start(["serve"], { ...SETTINGS, VISAGE_DATA_DIR: dataDir, ...settings });
  };

  // The tests of the networks say which providers there are on other platforms.
  test.runIf(process.platform === "linux" && process.arch === "x64").each([
    [
      "cuda",
      /^visage: onnxruntime cannot run .* \[cuda\]: .*shared library\. It has cpu, .*Install them.*\n$/,
    ],
    ["dml,cpu", /^visage: The execution provider dml is missing: onnxruntime has cpu, .*\n$/],
    ["gpu", /^visage: VISAGE_ORT_PROVIDERS must be a list of cpu, .* and "gpu" is none of them\n$/],
  ])("exits with one line if it cannot run on %s", async (providers, message) => {
    const child = await serve({ VISAGE_ORT_PROVIDERS: providers, VISAGE_WORKERS: "2" });
    const [[code], errors] = await Promise.all([once(child, "close"), child.stderr!.toArray()]);
    expect(errors.join("")).toMatch(message);
    expect(code).toBe(1);
  });

  test("runs on the CPU with another batch size", async () => {
    const child = await serve({ VISAGE_ORT_PROVIDERS: "cpu", VISAGE_BATCH_SIZE: "16", VISAGE_WORKERS: "1" });
    let output = "";
    for await (const chunk of child.stdout!) {
      output += chunk;
      if (output.includes("listens at")) break;
    }
    expect(output).toContain("listens at");
  });
});

test("an unreachable database is one line, without its password", async () => {
  const env = { VISAGE_DATABASE_URL: "postgres://ann:secret@localhost:1/accounts?password=secret" };
  const child = start(["users", "list"], env);
  const [[code], errors] = await Promise.all([once(child, "close"), child.stderr!.toArray()]);
  expect(errors.join("")).toMatch(
    /^Account database: postgres:\/\/ann@localhost:1\/accounts\nvisage: The account database postgres:\/\/ann@localhost:1\/accounts cannot be opened \(connect ECONNREFUSED \S+:1\)\n$/,
  );
  expect(code).toBe(1);
});
