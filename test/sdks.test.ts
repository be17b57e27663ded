import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PACKAGE_ROOT } from "../models/manifest.ts";
import type { RunningService } from "../src/main.ts";
import { startTestService, USER } from "./support/service.ts";

/** The first run on a machine downloads and compiles what each SDK depends on. */
const TIMEOUT_MS = 15 * 60_000;
const PHOTOS = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo");
const PYTHON = join(PACKAGE_ROOT, "node_modules/.cache/sdk-tools/python/bin/python");
// CI must not pass because a tool is missing.
const isCi = process.env.CI === "true";

let service: RunningService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** Runs a program in a folder, gives what it prints, and fails with it where the program does. */
async function run(folder: string, program: string, ...args: string[]): Promise<string> {
  const env = {
    ...process.env,
    VISAGE_ADDRESS: `127.0.0.1:${service.port}`,
    VISAGE_USER_ID: USER,
    VISAGE_PHOTOS: PHOTOS,
    PYTHONDONTWRITEBYTECODE: "1",
  };
  try {
    return (await promisify(execFile)(program, args, { cwd: join(PACKAGE_ROOT, folder), env })).stdout;
  } catch (fault) {
    const { stdout, stderr } = fault as { stdout: string; stderr: string };
    throw new Error(`${program} ${args.join(" ")} fails:\n${stdout}${stderr}`, { cause: fault });
  }
}

/** Arguments that make an example compare two photographs of one woman. */
function exampleArguments(): string[] {
  return [`127.0.0.1:${service.port}`, USER, join(PHOTOS, "sample1.jpg"), join(PHOTOS, "sample3.jpg")];
}

function hasTools(tools: Readonly<Record<string, string>>): boolean {
  const missing = Object.entries(tools).filter(([tool, flag]) => spawnSync(tool, [flag]).status !== 0);
  if (missing.length > 0 && !isCi)
    console.warn(`Tests of an SDK are skipped for want of ${missing.map(([tool]) => tool).join(", ")}.`);
  return missing.length === 0 || isCi;
}

describe.skipIf(!hasTools({ python3: "--version" }))("the SDK in Python", { timeout: TIMEOUT_MS }, () => {
  test("talks to the service", async () => {
    await run(".", process.execPath, ".ci/install-sdk-tools.mjs", "python");
    await run("gen/python", PYTHON, "test_client.py");
    expect(await run("gen/python", PYTHON, "example.py", ...exampleArguments())).toMatch(
      /^match: 0\.\d{4}$/m,
    );
  });
});

describe.skipIf(!hasTools({ go: "version" }))("the SDK in Go", { timeout: TIMEOUT_MS }, () => {
  test("talks to the service, over gRPC and Connect", async () => {
    // What was tested against another server says nothing about this one.
    await run("gen/go", "go", "test", "-count=1", "./...");
    expect(await run("gen/go", "go", "run", "./example", ...exampleArguments())).toMatch(
      /^match: 0\.\d{4}$/m,
    );
  });
});

describe.skipIf(!hasTools({ javac: "-version", mvn: "-v" }))(
  "the SDK in Java",
  { timeout: TIMEOUT_MS },
  () => {
    test("talks to the service", async () => {
      const example = `-Dexec.args=${exampleArguments().join(" ")}`;
      expect(await run("gen/java", "mvn", "-q", "-B", "test", "exec:java", example)).toMatch(
        /match: 0\.\d{4}$/m,
      );
    });
  },
);
