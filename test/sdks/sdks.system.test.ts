import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";
import { startTestService, USER } from "../support/service.ts";

/** The first run on a machine downloads and compiles the dependencies of each SDK. */
const TIMEOUT_MS = 15 * 60_000;
const PHOTOS = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo");
// In CI a missing program must fail the tests.
const isCi = process.env.CI === "true";

let service: RunningService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** Runs a program in a folder and returns its output. Throws an error with the output if the program fails. */
async function run(folder: string, program: string, ...args: string[]): Promise<string> {
  const env = {
    ...process.env,
    VISAGE_ADDRESS: `127.0.0.1:${service.port}`,
    VISAGE_USER_ID: USER,
    VISAGE_PHOTOS: PHOTOS,
  };
  try {
    return (await promisify(execFile)(program, args, { cwd: join(PACKAGE_ROOT, folder), env })).stdout;
  } catch (fault) {
    const { stdout, stderr } = fault as { stdout: string; stderr: string };
    throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: fault });
  }
}

/** Arguments for an example, which compares two photographs of one woman. */
function exampleArguments(): string[] {
  return [`127.0.0.1:${service.port}`, USER, join(PHOTOS, "sample3.jpg"), join(PHOTOS, "sample3.jpg")];
}

function hasTools(tools: Readonly<Record<string, string>>): boolean {
  const missing = Object.entries(tools).filter(([tool, flag]) => spawnSync(tool, [flag]).status !== 0);
  if (missing.length > 0 && !isCi)
    console.warn(`Tests of an SDK are skipped. Not installed: ${missing.map(([tool]) => tool).join(", ")}.`);
  return missing.length === 0 || isCi;
}

describe.skipIf(!hasTools({ go: "version" }))("the SDK in Go", { timeout: TIMEOUT_MS }, () => {
  test("calls the service over gRPC and Connect", async () => {
    // Go would reuse results of a run against another server.
    await run("sdks/go", "go", "test", "-count=1", "./...");
    expect(await run("sdks/go", "go", "run", "./example", ...exampleArguments())).toMatch(
      /^match: 0\.\d{4}$/m,
    );
  });
});
