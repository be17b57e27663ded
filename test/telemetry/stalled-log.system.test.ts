import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { constants, createReadStream, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";

const USER = "stalled-log-user";
const REQUESTS = 2000;

const folder = mkdtempSync(join(tmpdir(), "visage-stalled-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts the service with a standard error that is not read. Returns its port and a function that starts reading. */
async function startService(kind: "socket" | "pipe", nodeOptions = "") {
  const fifo = join(folder, `${kind}-${Date.now()}`);
  if (kind === "pipe") execFileSync("mkfifo", [fifo]);
  // Opened for reading too, so that the pipe has a reader that does not read.
  const descriptor = kind === "pipe" ? openSync(fifo, constants.O_RDWR) : undefined;
  const service = spawn(process.execPath, [join(PACKAGE_ROOT, "dist/src/cli/main.js"), "serve"], {
    // The "pipe" of Node is a socket.
    stdio: ["ignore", "pipe", descriptor ?? "pipe"],
    env: {
      PATH: process.env.PATH,
      NODE_OPTIONS: nodeOptions,
      VISAGE_HOST: "127.0.0.1",
      VISAGE_PORT: "0",
      VISAGE_METRICS_PORT: "0",
      VISAGE_DATA_DIR: mkdtempSync(join(folder, "data-")),
      VISAGE_TRIAL_USER: USER,
      VISAGE_WORKERS: "1",
    },
  });
  onTestFinished(() => void service.kill("SIGKILL"));
  let printed = "";
  for await (const chunk of service.stdout!.iterator({ destroyOnReturn: false })) {
    printed += chunk;
    if (/listens at .+\n/.test(printed)) break;
  }
  const read = () => (kind === "pipe" ? createReadStream(fifo) : service.stderr!).setEncoding("utf8");
  return { service, port: Number(/listens at http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)![1]), read };
}

/** Sends requests that each produce a log line, twenty at a time. */
async function sendRequests(port: number): Promise<void> {
  const url = `http://127.0.0.1:${port}/get_face_vec`;
  const headers = { user_id: USER, "content-type": "application/json" };
  const send = async () => {
    for (let i = 0; i < REQUESTS / 20; i++) {
      const response = await fetch(url, { method: "POST", headers, body: "{}" });
      expect(response.status).toBe(400);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: 20 }, send));
}

async function stop(service: ChildProcess): Promise<unknown> {
  service.kill("SIGINT");
  const [code] = await once(service, "exit");
  return code;
}

describe.each(["socket", "pipe"] as const)("with an unread %s as standard error", (kind) => {
  test("the service answers 2,000 requests, reports the dropped lines and stops", async () => {
    const { service, port, read } = await startService(kind);
    await sendRequests(port);
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);

    let log = "";
    read().on("data", (text: string) => {
      log += text;
    });
    // What follows the last line break may be a part of a line.
    const lines = () => log.split("\n").slice(0, -1);
    const dropped = () =>
      lines()
        .filter((line) => line.includes('"event":"log lines dropped"'))
        .reduce((sum, line) => sum + (JSON.parse(line) as { lines: number }).lines, 0);
    const written = () => lines().filter((line) => line.includes('"operation":"get_face_vec"')).length;
    await expect.poll(() => written() + dropped()).toBe(REQUESTS);
    expect(dropped()).toBeGreaterThan(0);
    expect(await stop(service)).toBe(0);
  });

  test("the service stops while the log stays unread", async () => {
    const { service, port } = await startService(kind);
    await sendRequests(port);
    expect(await stop(service)).toBe(0);
  });

  test("a worker that writes to standard error keeps working", async () => {
    const preload = join(PACKAGE_ROOT, "test/support/noisy-worker.mjs");
    const { service, port } = await startService(kind, `--import=${preload}`);
    await sendRequests(port);
    const body = new FormData();
    const { photograph } = await import("../support/images.ts");
    body.append("img", new Blob([photograph(3).slice()]));
    const url = `http://127.0.0.1:${port}/get_face_vec`;
    const response = await fetch(url, { method: "POST", headers: { user_id: USER }, body });
    expect(response.status).toBe(200);
    expect(await stop(service)).toBe(0);
  });
});
