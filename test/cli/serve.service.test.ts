import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";

const CLI = join(PACKAGE_ROOT, "dist/src/cli/main.js");
const hasTools = ["bash", "curl"].every((tool) => spawnSync(tool, ["--version"]).status === 0);
const canPin = spawnSync("taskset", ["--version"]).status === 0;
const isCi = process.env.CI === "true";

let server: ChildProcess;
let dataDir: string;
let printed = "";

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "visage-data-"));
  const env = {
    PATH: process.env.PATH,
    VISAGE_PORT: "0",
    VISAGE_HOST: "127.0.0.1",
    VISAGE_DATA_DIR: dataDir,
    VISAGE_WORKERS: "1",
    VISAGE_METRICS_PORT: "off",
  };
  server = spawn(process.execPath, [CLI, "serve"], { env, stdio: ["ignore", "pipe", "inherit"] });
  for await (const chunk of server.stdout!) {
    printed += chunk;
    if (printed.includes("curl")) break;
  }
});
afterAll(() => {
  server.kill("SIGKILL");
});

function readPort(): number {
  return Number(/listens at http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1]);
}

function userId(): string {
  return readFileSync(join(dataDir, "trial-user"), "utf8").trim();
}

test.skipIf(!hasTools && !isCi)("serve prints a curl command that works", async () => {
  const line = /^ {2}(curl .*)$/m.exec(printed)?.[1];
  const { stdout } = await promisify(execFile)("bash", ["-c", `${line} --silent`], { maxBuffer: 2 ** 24 });
  expect(JSON.parse(stdout)).toMatchObject({
    status: "ok",
    data: { attributes: { image_size: [1280, 1920] } },
  });
});

test("the id of the trial user is saved in a file that only its owner can read", () => {
  expect(userId()).toMatch(/^[\da-f]{24}$/);
  expect(statSync(join(dataDir, "trial-user")).mode & 0o777).toBe(0o600);
});

test.each(["user_id", "User_id", "USER_ID"])("the user id header is case-insensitive: %s", async (name) => {
  const call = request({ port: readPort(), host: "127.0.0.1", method: "POST", path: "/get_face_vec?" });
  call.setHeader(name, userId());
  call.setHeader("user_key", "ignored");
  call.end();
  const [response] = (await once(call, "response")) as [{ statusCode: number; resume(): void }];
  response.resume();
  // The request is admitted; only the image is missing.
  expect(response.statusCode).toBe(400);
});

test.skipIf(process.platform !== "linux")("only the workers load decoders and networks", () => {
  const child = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8").trim();
  const loads = (pid: number | string) => {
    const libraries = readFileSync(`/proc/${pid}/maps`, "utf8");
    return ["libvips", "libonnxruntime"].filter((name) => libraries.includes(name));
  };
  expect(loads(server.pid!)).toEqual([]);
  expect(loads(child)).toEqual(["libvips", "libonnxruntime"]);
});

test("invalid settings fail the start with an error for each", () => {
  const env = {
    PATH: process.env.PATH,
    VISAGE_PORT: "http",
    VISAGE_WORKERS: "0",
    VISAGE_TLS_CERT: "only.pem",
  };
  const { status, stderr } = spawnSync(process.execPath, [CLI, "serve"], { env, encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toContain("VISAGE_PORT must be an integer");
  expect(stderr).toContain("VISAGE_WORKERS must be an integer");
  expect(stderr).toContain("VISAGE_TLS_CERT and VISAGE_TLS_KEY must be set together");
});

test.skipIf(!canPin && !isCi)("logs one warning for more workers than cores", async () => {
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
});

test("SIGTERM ends it with exit code 0", async () => {
  server.kill("SIGTERM");
  const [code] = await once(server, "exit");
  expect(code).toBe(0);
});
