import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, statSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";

const CLI = join(PACKAGE_ROOT, "dist/src/cli/main.js");
const hasTools = ["bash", "curl"].every((tool) => spawnSync(tool, ["--version"]).status === 0);
const isCi = process.env.CI === "true";

let server: ChildProcess;
let dataDir: string;
let printed = "";

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "visage-data-"));
  const env = {
    PATH: process.env.PATH,
    VISAGE_PORT: "0",
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
  expect(JSON.parse(stdout)).toMatchObject({ imageSize: { width: 1920, height: 1280 }, facesFound: 3 });
});

test("the id of the trial user is saved in a file that only its owner can read", () => {
  expect(userId()).toMatch(/^vsg_[\da-f]{32}$/);
  expect(statSync(join(dataDir, "trial-user")).mode & 0o777).toBe(0o600);
});

test("by default only this machine can reach it, and the first line says so", async () => {
  expect(printed).toMatch(
    /^Visage listens at http:\/\/127\.0\.0\.1:\d+ \(only this machine can reach it; VISAGE_HOST=0\.0\.0\.0 serves others\)\n/m,
  );
  // A server that listens on all addresses would accept this one too.
  const [error] = await once(connect(readPort(), "127.0.0.2"), "error").catch((cause) => [cause]);
  expect(error).toMatchObject({ code: "ECONNREFUSED" });
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

test("SIGTERM ends it with exit code 0", async () => {
  server.kill("SIGTERM");
  const [code] = await once(server, "exit");
  expect(code).toBe(0);
});
