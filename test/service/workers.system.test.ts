import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { DEFAULT_MODELS_DIR } from "../../src/core/index.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { readPort } from "../../tools/support/service-process.ts";
import { photograph } from "../support/images.ts";
import { USER } from "../support/service.ts";

const WAIT = { timeout: 60_000, interval: 50 };

let server: ChildProcess;
let address: string;
let log = "";
/** The worker that the first test does not kill. */
let survivor: number;
const dataDir = mkdtempSync(join(tmpdir(), "visage-workers-"));
beforeAll(async () => {
  server = spawn(process.execPath, [join(PACKAGE_ROOT, "dist/src/cli/main.js"), "serve"], {
    env: {
      VISAGE_MODELS_DIR: DEFAULT_MODELS_DIR,
      VISAGE_DATA_DIR: dataDir,
      VISAGE_TRIAL_USER: USER,
      VISAGE_HOST: "127.0.0.1",
      VISAGE_PORT: "0",
      VISAGE_WORKERS: "2",
      // No request is to fail by the time limit, however slow the machine is.
      VISAGE_REQUEST_TIMEOUT_MS: "60000",
      // Overload is not the subject, however slow the machine is.
      VISAGE_MAX_QUEUE_WAIT_MS: "60000",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  server.stderr!.on("data", (text) => {
    log += text;
  });
  // Lines of the audit trail come first.
  address = `http://127.0.0.1:${await readPort(server.stdout!, /http:\/\/127\.0\.0\.1:(\d+)/)}`;
});
afterAll(async () => {
  server.kill("SIGKILL");
  await once(server, "exit");
  rmSync(dataDir, { recursive: true });
});

/** Sends four requests at a time. The returned function stops and counts the responses by code. */
function startLoad(): () => Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  let isOver = false;
  const runClient = async () => {
    while (!isOver) {
      const code = await sendRequest();
      counts[code] = (counts[code] ?? 0) + 1;
    }
  };
  const clients = Promise.all([1, 2, 3, 4].map(runClient));
  return async () => {
    isOver = true;
    await clients;
    return counts;
  };
}

/** Sends one request and returns the code of the response. */
async function sendRequest(): Promise<string> {
  const body = new FormData();
  body.append("img", new Blob([photograph(3).slice()]));
  const response = await fetch(`${address}/get_face_vec`, {
    method: "POST",
    headers: { user_id: USER },
    body,
  });
  return ((await response.json()) as { code: string }).code;
}

function workerPids(): number[] {
  return execFileSync("pgrep", ["-P", String(server.pid)], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map(Number);
}

const losses = () => log.split("\n").filter((line) => line.includes("worker lost"));

test("a worker that is killed under load fails one request and is replaced", async () => {
  const stop = startLoad();
  await vi.waitFor(() => expect(log).toContain('"outcome":"ok"'), WAIT);
  const killed = workerPids()[0]!;
  survivor = workerPids()[1]!;
  process.kill(killed, "SIGKILL");
  await vi.waitFor(() => expect(workerPids().filter((pid) => pid !== killed)).toHaveLength(2), WAIT);
  const { "1000": successes = 0, "5000": lost = 0, ...others } = await stop();
  expect(others).toEqual({});
  expect(lost).toBeLessThanOrEqual(1);
  expect(successes).toBeGreaterThan(0);
  expect(workerPids()).toContain(survivor);
  expect(losses()).toMatchObject([expect.stringContaining('"cause":"SIGKILL","restarts":0')]);
  expect(await sendRequest()).toBe("1000");
});

test("a worker that hangs under load is replaced, and no request fails", async () => {
  const stop = startLoad();
  const stuck = survivor;
  process.kill(stuck, "SIGSTOP");
  await vi.waitFor(() => expect(losses()).toHaveLength(2), WAIT);
  await vi.waitFor(() => expect(workerPids().filter((pid) => pid !== stuck)).toHaveLength(2), WAIT);
  const { "1000": successes = 0, ...others } = await stop();
  expect(others).toEqual({});
  expect(successes).toBeGreaterThan(0);
  expect(losses()[1]).toContain('"cause":"has a job and uses no CPU time","restarts":1');
  expect(await sendRequest()).toBe("1000");
});
