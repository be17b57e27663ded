import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
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

test("an unreachable database is one line, without its password", async () => {
  const env = { VISAGE_DATABASE_URL: "postgres://ann:secret@localhost:1/accounts?password=secret" };
  const child = start(["users", "list"], env);
  const [[code], errors] = await Promise.all([once(child, "close"), child.stderr!.toArray()]);
  expect(errors.join("")).toMatch(
    /^Account database: postgres:\/\/ann@localhost:1\/accounts\nvisage: The account database postgres:\/\/ann@localhost:1\/accounts cannot be opened \(connect ECONNREFUSED \S+:1\)\n$/,
  );
  expect(code).toBe(1);
});
