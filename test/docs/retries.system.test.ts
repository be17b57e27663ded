import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import { readMetrics } from "../../tools/fuzz/edge/metrics.ts";
import { addTestUser } from "../support/accounts.ts";
import { codeBlocks, readMarkdown, sectionUnder } from "../support/markdown.ts";
import { PHOTOS, runProgram } from "../support/sdk.ts";
import { requestFaceVector, startTestService, USER } from "../support/service.ts";
import { installTool } from "../support/tool-cache.ts";
import { findTools } from "../support/tools.ts";

const REQUESTS = "requests==2.32.5";
const LANGUAGES = ["sh", "python", "js"] as const;
type Language = (typeof LANGUAGES)[number];

const tools = findTools("bash", "curl", "python3");
const folder = mkdtempSync(join(tmpdir(), "visage-retries-"));
let service: RunningService;
let python: string;

beforeAll(async () => {
  const dataDir = join(folder, "data");
  const store = await openAccountStore({ databaseUrl: undefined, dataDir });
  // One request in four seconds.
  for (const language of LANGUAGES)
    await addTestUser(store, `slow-user-${language}`, { requestsPerSecond: 0.25, burst: 1 });
  await store.close();
  service = await startTestService({ VISAGE_DATA_DIR: dataDir, VISAGE_MAX_QUEUE_WAIT_MS: "1" });
  copyFileSync(join(PHOTOS, "sample1.jpg"), join(folder, "photo.jpg"));
  const target = await installTool("python-requests", REQUESTS, async (environment) => {
    await runProgram(folder, "python3", ["-m", "venv", environment]);
    await runProgram(folder, join(environment, "bin/pip"), ["install", "--quiet", REQUESTS]);
  });
  python = join(target, "bin/python");
}, 300_000);
afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the program of a language in the documentation. Returns its output. */
function runDocumented(language: Language, key: string): Promise<string> {
  const [code] = codeBlocks(sectionUnder(readMarkdown("docs/errors.md"), "When to retry"), language);
  const file = join(folder, `${key}.${language === "js" ? "mjs" : language}`);
  writeFileSync(file, code!.replaceAll("localhost:8080", `127.0.0.1:${service.port}`));
  const programs = { sh: tools.paths.bash, python, js: process.execPath };
  return runProgram(folder, programs[language], [file], { API_KEY: key });
}

/** A large image that is slow to decode, and small as a file. */
function plainImage(): Promise<Buffer> {
  const create = { width: 6000, height: 6000, channels: 3, background: "white" } as const;
  return sharp({ create }).png().toBuffer();
}

async function countOf(outcome: string): Promise<number> {
  const metrics = await readMetrics(service.metricsPort!);
  return metrics.value("visage_requests_total", { operation: "visage.v1.analyze_image", outcome }) ?? 0;
}

describe.skipIf(!tools.wanted).each(LANGUAGES)("the documented retry in %s", (language) => {
  test("waits as long as the rate limit asks for", async () => {
    const key = `slow-user-${language}`;
    const before = await countOf("TOO_MANY_REQUESTS");
    expect(await requestFaceVector(service, key)).toBe(200);
    expect(await runDocumented(language, key)).toContain("facesFound");
    expect((await countOf("TOO_MANY_REQUESTS")) - before).toBe(1);
  });

  test("comes through when the service is busy no longer", async () => {
    const before = await countOf("OVERLOADED");
    let isBusy = true;
    // Each takes the only worker so long that the pauses between them do not matter.
    const image = new Blob([new Uint8Array(await plainImage())]);
    const load = Array.from({ length: 3 }, async () => {
      while (isBusy) {
        const body = new FormData();
        body.append("img", image);
        const response = await fetch(`http://127.0.0.1:${service.port}/get_face_vec`, {
          ...{ method: "POST", headers: { user_id: USER }, body },
        });
        await response.arrayBuffer();
      }
    });
    const output = runDocumented(language, USER);
    try {
      await expect.poll(() => countOf("OVERLOADED"), { timeout: 60_000 }).toBeGreaterThan(before);
    } finally {
      isBusy = false;
      await Promise.all(load);
    }
    expect(await output).toContain("facesFound");
  });
});
