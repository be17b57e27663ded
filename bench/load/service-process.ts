import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { request } from "undici";
import { PACKAGE_ROOT } from "../../models/manifest.ts";

/** The service as its users run it, in a process of its own with a worker a core. */
export interface ServiceProcess {
  readonly port: number;
  readonly pid: number;
  /** From its start until it said that it is ready. */
  readonly startMs: number;
  stop(): Promise<void>;
}

/** Two users without limits of rate or quota. */
export const USER = "user-of-the-bench";
export const SECOND_USER = "second-user-of-the-bench";

const CLI = join(PACKAGE_ROOT, "dist/src/cli.js");
const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 10_000;
const POLL_EVERY_MS = 5;

/** Starts the service on a free port, on an empty data folder, and waits until it is ready. */
export async function startServiceProcess(): Promise<ServiceProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), "visage-bench-data-"));
  await addUser(dataDir, "bench", USER);
  await addUser(dataDir, "second", SECOND_USER);
  const port = await freePort();
  const start = performance.now();
  // In a process group of its own: Ctrl-C is for this process to handle.
  const child = spawn(process.execPath, [CLI, "serve"], {
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      VISAGE_HOST: "127.0.0.1",
      VISAGE_PORT: String(port),
      VISAGE_DATA_DIR: dataDir,
      VISAGE_TRIAL_USER: USER,
      VISAGE_LOG_LEVEL: "error",
    },
  });
  let said = "";
  child.stderr.on("data", (text) => {
    said = `${said}${text}`.slice(-4000);
  });
  const kill = () => void child.kill("SIGKILL");
  const removeData = () => rmSync(dataDir, { recursive: true, force: true });
  const leave = () => {
    kill();
    removeData();
  };
  process.once("exit", leave);
  const gone = once(child, "exit");

  const stop = async () => {
    child.kill("SIGTERM");
    const stuck = setTimeout(kill, STOP_WITHIN_MS);
    await gone;
    clearTimeout(stuck);
    process.off("exit", leave);
    removeData();
  };
  while (!(await isReady(port))) {
    if (child.exitCode !== null || performance.now() - start > READY_WITHIN_MS) {
      await stop();
      throw new Error(`the service did not get ready:\n${said}`);
    }
    await sleep(POLL_EVERY_MS);
  }
  return { port, pid: child.pid!, startMs: performance.now() - start, stop };
}

async function addUser(dataDir: string, name: string, id: string): Promise<void> {
  const args = ["users", "add", "--name", name, "--id", id, "--plan", "unlimited"];
  await promisify(execFile)(process.execPath, [CLI, ...args], { env: { VISAGE_DATA_DIR: dataDir } });
}

/** A port that nobody listens at; another program could take it before it is used. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

async function isReady(port: number): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}/readyz`);
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}
