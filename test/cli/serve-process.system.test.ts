import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { generate } from "selfsigned";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { photograph } from "../support/images.ts";

const CLI = join(PACKAGE_ROOT, "dist/src/cli/main.js");
const FAILING = `--import=${join(PACKAGE_ROOT, "test/support/failing-process.mjs")}`;
const USER = "user-of-a-process";
const hasTaskset = spawnSync("taskset", ["--version"]).status === 0;

const folder = mkdtempSync(join(tmpdir(), "visage-process-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function environment(settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    VISAGE_HOST: "127.0.0.1",
    VISAGE_PORT: "0",
    VISAGE_METRICS_PORT: "off",
    VISAGE_DATA_DIR: mkdtempSync(join(folder, "data-")),
    VISAGE_WORKERS: "1",
    ...settings,
  };
}

/** A service process and its output. */
class Service {
  readonly process: ChildProcess;
  readonly exit: Promise<[code: number | null, signal: NodeJS.Signals | null]>;
  output = "";
  log = "";

  constructor(settings: Readonly<Record<string, string>> = {}) {
    this.process = spawn(process.execPath, [CLI, "serve"], {
      env: environment(settings),
      stdio: ["ignore", "pipe", "pipe"],
    });
    // Not "exit", after which some of the output may still arrive.
    this.exit = once(this.process, "close") as Service["exit"];
    this.process.stdout!.on("data", (text) => {
      this.output += text;
    });
    this.process.stderr!.on("data", (text) => {
      this.log += text;
    });
    onTestFinished(() => void this.process.kill("SIGKILL"));
  }

  /** Waits until it has started a worker process, which is not ready yet. */
  async workerStarted(): Promise<void> {
    const { pid } = this.process;
    const children = () => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    await expect.poll(children, { timeout: 30_000, interval: 5 }).not.toBe("");
  }

  async port(): Promise<number> {
    await expect.poll(() => this.output, { timeout: 30_000 }).toMatch(/listens at \S+:\d+ /);
    return Number(/listens at \S+:(\d+) /.exec(this.output)![1]);
  }
}

/** An image server that holds its responses. */
let images: ReturnType<typeof createServer>;
const heldResponses: ServerResponse[] = [];
beforeAll(async () => {
  images = createServer((_, response) => heldResponses.push(response));
  images.listen(0, "127.0.0.1");
  await once(images, "listening");
});
afterAll(() => {
  images.closeAllConnections();
  images.close();
});

const SETTINGS = {
  NODE_OPTIONS: FAILING,
  VISAGE_TRIAL_USER: USER,
  VISAGE_FETCH_ALLOW: "127.0.0.1",
  VISAGE_FETCH_TIMEOUT_MS: "20000",
};

/** Sends a request that waits for its image. Returns the response and a function that sends the image. */
async function requestImage(port: number) {
  const { port: imagePort } = images.address() as AddressInfo;
  const before = heldResponses.length;
  const response = fetch(`http://127.0.0.1:${port}/get_face_vec`, {
    method: "POST",
    headers: { user_id: USER, "content-type": "application/json" },
    body: JSON.stringify({ img: `http://127.0.0.1:${imagePort}/` }),
  });
  response.catch(() => {});
  await expect.poll(() => heldResponses.length).toBe(before + 1);
  return { response, sendImage: () => heldResponses.at(-1)!.end(photograph(3)) };
}

describe("an unhandled error", () => {
  test.each([
    ["SIGUSR2", "uncaught exception", "made to throw"],
    ["SIGWINCH", "unhandled rejection", "made to reject"],
  ] as const)(
    "(%s) ends the process after the requests in flight have finished",
    async (signal, event, cause) => {
      const service = new Service(SETTINGS);
      const port = await service.port();
      const { response, sendImage } = await requestImage(port);
      service.process.kill(signal);
      await expect.poll(() => service.log).toContain(`"event":"${event}","cause":"Error: ${cause}`);
      await expect.poll(() => fetch(`http://127.0.0.1:${port}/healthz`).catch(() => "closed")).toBe("closed");
      sendImage();
      expect((await response).status).toBe(200);
      expect(await service.exit).toEqual([1, null]);
      expect(service.log).toContain('"outcome":"ok"');
    },
  );

  test("ends the process after a grace period even if requests are in flight", async () => {
    const service = new Service(SETTINGS);
    await requestImage(await service.port());
    service.process.kill("SIGUSR2");
    expect(await service.exit).toEqual([1, null]);
    expect(service.log).not.toContain('"outcome":"ok"');
  });

  test("is logged even if it is not the first", async () => {
    const service = new Service(SETTINGS);
    await requestImage(await service.port());
    service.process.kill("SIGUSR2");
    await expect.poll(() => service.log).toContain("made to throw");
    service.process.kill("SIGWINCH");
    expect(await service.exit).toEqual([1, null]);
    expect(service.log).toContain("made to reject");
  });
});

describe.skipIf(process.platform !== "linux")("a signal while the service starts", () => {
  test.each(["SIGTERM", "SIGINT"] as const)("ends the process with exit code 0: %s", async (signal) => {
    for (const delayMs of [0, 200]) {
      const service = new Service();
      await service.workerStarted();
      await sleep(delayMs);
      service.process.kill(signal);
      expect(await service.exit).toEqual([0, null]);
      expect(service.log).not.toContain("error");
    }
  });
});

describe("SIGHUP", () => {
  async function writeCertificate(): Promise<{ cert: string; key: string }> {
    const pems = await generate([{ name: "commonName", value: "localhost" }]);
    const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
    writeFileSync(files.cert, pems.cert);
    writeFileSync(files.key, pems.private);
    return files;
  }

  test("keeps the old certificate and logs an error if the new one is invalid", async () => {
    const files = await writeCertificate();
    const service = new Service({ VISAGE_TLS_CERT: files.cert, VISAGE_TLS_KEY: files.key });
    await service.port();
    writeFileSync(files.cert, readFileSync(files.cert).subarray(0, 300));
    for (let i = 0; i < 5; i++) service.process.kill("SIGHUP");
    await expect.poll(() => service.log).toContain('"event":"certificate reload failed"');
    await writeCertificate();
    service.process.kill("SIGHUP");
    await expect.poll(() => service.log).toContain('"event":"certificate reloaded"');
    service.process.kill("SIGINT");
    expect(await service.exit).toEqual([0, null]);
  });

  test.skipIf(process.platform !== "linux")("does not end the process while the service starts", async () => {
    const service = new Service();
    await service.workerStarted();
    service.process.kill("SIGHUP");
    await service.port();
    expect(service.process.exitCode).toBeNull();
  });
});

describe("the id of the trial user", () => {
  test("is not printed if the output is not a terminal", async () => {
    const dataDir = mkdtempSync(join(folder, "data-"));
    const service = new Service({ VISAGE_DATA_DIR: dataDir });
    await service.port();
    const path = join(dataDir, "trial-user");
    const id = readFileSync(path, "utf8").trim();
    expect(service.output).toContain(`The id of the trial user is stored in ${path}`);
    expect(service.output + service.log).not.toContain(id);
  });

  test("is not created where other machines can reach the service", async () => {
    const dataDir = mkdtempSync(join(folder, "data-"));
    const service = new Service({ VISAGE_DATA_DIR: dataDir, VISAGE_HOST: "0.0.0.0" });
    const port = await service.port();
    expect(service.output).toContain(`http://localhost:${port} (other machines can reach it)`);
    expect(service.output).toContain("visage users add --name NAME");
    expect((await fetch(`http://127.0.0.2:${port}/readyz`)).status).toBe(200);
    expect(readdirSync(dataDir)).not.toContain("trial-user");
    const args = [CLI, "users", "list", "--json"];
    const { stdout } = spawnSync(process.execPath, args, { env: environment({ VISAGE_DATA_DIR: dataDir }) });
    expect(JSON.parse(String(stdout))).toEqual([]);
  });

  test("is not printed if it is set by VISAGE_TRIAL_USER", async () => {
    const service = new Service({ VISAGE_TRIAL_USER: USER });
    await service.port();
    expect(service.output).toContain("VISAGE_TRIAL_USER");
    expect(service.output + service.log).not.toContain(USER);
  });

  const hasScript = spawnSync("script", ["--version"]).status === 0;
  test.skipIf(!hasScript)("is printed to a terminal", async () => {
    const dataDir = mkdtempSync(join(folder, "data-"));
    const command = `exec ${process.execPath} ${CLI} serve`;
    const terminal = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"], {
      env: environment({ VISAGE_DATA_DIR: dataDir }),
      stdio: ["pipe", "pipe", "ignore"],
    });
    onTestFinished(() => void terminal.kill("SIGKILL"));
    let output = "";
    terminal.stdout.on("data", (text) => {
      output += text;
    });
    await expect.poll(() => output, { timeout: 30_000 }).toContain("curl");
    const id = readFileSync(join(dataDir, "trial-user"), "utf8").trim();
    expect(output).toContain(`-H 'Authorization: Bearer ${id}'`);
    expect(output).toContain(`/#user_id=${id}`);
    terminal.stdin.write("\u0003");
    await once(terminal, "exit");
  });
});

test.skipIf(!hasTaskset && process.env.CI !== "true")(
  "logs one warning for more workers than cores",
  async () => {
    const [core] = /(?<=^Cpus_allowed_list:\s+)\d+/m.exec(readFileSync("/proc/self/status", "utf8"))!;
    const folder = mkdtempSync(join(tmpdir(), "visage-data-"));
    const env = {
      VISAGE_PORT: "0",
      VISAGE_HOST: "127.0.0.1",
      VISAGE_METRICS_PORT: "off",
      VISAGE_DATA_DIR: folder,
      VISAGE_WORKERS: "2",
    };
    const pinned = spawn("taskset", ["--cpu-list", core, process.execPath, CLI, "serve"], { env });
    let log = "";
    pinned.stderr.on("data", (text) => {
      log += text;
    });
    await once(pinned.stdout, "data");
    pinned.kill("SIGINT");
    await once(pinned, "close");
    rmSync(folder, { recursive: true });
    const warnings = log.split("\n").filter((line) => line.includes('"level":"warn"'));
    expect(warnings).toEqual([
      expect.stringContaining('"event":"more workers than cores","workers":2,"cpus":1'),
    ]);
  },
);
