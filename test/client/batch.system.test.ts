import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createVisageClient, type VisageClientOptions } from "../../src/client/visage-client.ts";
import { freePort } from "../../tools/support/free-port.ts";
import { startServiceProcess, USER } from "../../tools/support/service-process.ts";
import { smallPortrait } from "../support/images.ts";

const TIMEOUT_MS = 600_000;
const CALLS = 3_000;

const folder = mkdtempSync(join(tmpdir(), "visage-batch-"));
const PATH = join(folder, "portrait.jpg");
beforeAll(async () => writeFileSync(PATH, await smallPortrait()));
afterAll(() => rmSync(folder, { recursive: true }));

function openClient(port: number, options: Partial<VisageClientOptions> = {}) {
  const client = createVisageClient({ address: `http://127.0.0.1:${port}`, apiKey: USER, ...options });
  onTestFinished(() => client.close());
  return client;
}

async function startService(settings: Readonly<Record<string, string>> = {}) {
  const service = await startServiceProcess({ VISAGE_DRAIN_MS: "500", ...settings });
  onTestFinished(() => service.stop("SIGKILL"));
  return service;
}

describe("Promise.all with the default options", { timeout: TIMEOUT_MS }, () => {
  test("analyses 300 photographs, although the service sheds load early", async () => {
    const { port } = await startService({ VISAGE_MAX_QUEUE_WAIT_MS: "200" });
    const client = openClient(port);
    const templates = await Promise.all(Array.from({ length: 300 }, () => client.getFaceVec({ path: PATH })));
    expect(new Set(templates.map(({ embedding }) => embedding.join())).size).toBe(1);
  });

  test("makes thousands of calls in order, and reads files only when their calls start", async () => {
    const { port } = await startService();
    const client = openClient(port);
    const path = join(folder, "no-image");
    // All of them together would take 1 GB.
    writeFileSync(path, Buffer.alloc(1e9 / CALLS));
    let peakBytes = 0;
    let last = -1;
    let mostAhead = 0;
    const analyze = async (index: number) => {
      const error = await client.getFaceVec({ path }).catch(({ reason }) => reason);
      mostAhead = Math.max(mostAhead, Math.abs(index - ++last));
      if (index % 100 === 0) peakBytes = Math.max(peakBytes, process.memoryUsage().rss);
      return error;
    };
    const startBytes = process.memoryUsage().rss;
    const results = await Promise.all(Array.from({ length: CALLS }, (_, index) => analyze(index)));
    expect(new Set(results)).toEqual(new Set(["UNSUPPORTED_FORMAT"]));
    // A result comes at most some calls in flight earlier or later than its turn: there is steady progress.
    expect(mostAhead).toBeLessThan(200);
    expect(peakBytes - startBytes).toBeLessThan(500_000_000);
  });
});

describe("200 queued calls survive", { timeout: TIMEOUT_MS }, () => {
  test.each(["SIGTERM", "SIGKILL"] as const)("a restart of the service by %s", async (signal) => {
    const settings = { VISAGE_PORT: String(await freePort()) };
    const first = await startService(settings);
    const client = openClient(first.port, { retries: 100, timeoutMs: 120_000 });
    let done = 0;
    const calls = Promise.all(
      Array.from({ length: 200 }, async () => {
        await client.getFaceVec({ path: PATH });
        done++;
      }),
    );
    await expect.poll(() => done, { timeout: 60_000 }).toBeGreaterThan(20);
    await first.stop(signal);
    expect(done).toBeLessThan(200);
    await startService(settings);
    await calls;
    expect(done).toBe(200);
  });
});
