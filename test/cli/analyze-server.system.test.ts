import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { generate } from "selfsigned";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { AnalysisReport } from "../../src/cli/analysis-report.ts";
import { Interruption } from "../../src/cli/command.ts";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { readMetrics } from "../../tools/fuzz/edge/metrics.ts";
import { freePort } from "../../tools/support/free-port.ts";
import { USER as PROCESS_USER, startServiceProcess } from "../../tools/support/service-process.ts";
import { addTestUser } from "../support/accounts.ts";
import { runInProcess, TextOutput } from "../support/command-line.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

const CLI = join(PACKAGE_ROOT, "dist/src/cli/main.js");
const ENV = { VISAGE_KEY: USER };
const MANY = 40;
const WITHIN_30_SECONDS = { timeout: 30_000, interval: 5 };

/** A line of the output. */
type Line = AnalysisReport | { readonly file: string; readonly error: string };

const folder = mkdtempSync(join(tmpdir(), "visage-analyze-server-"));
const startFolder = process.cwd();
const manyNames = Array.from({ length: MANY }, (_, i) => `many/${String(i).padStart(3, "0")}.jpg`);
let service: RunningService;
let url: string;

beforeAll(async () => {
  const small = (number: 1 | 3 | 4) => sharp(photograph(number)).resize({ width: 480 }).jpeg().toBuffer();
  const [three, four] = await Promise.all([small(1), small(4)]);
  for (const name of ["mixed", "many"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "mixed", "three.jpg"), three);
  writeFileSync(join(folder, "mixed", "four.jpg"), four);
  writeFileSync(join(folder, "mixed", "cut.jpg"), three.subarray(0, 2_000));
  writeFileSync(join(folder, "mixed", "empty.jpg"), "");
  for (const name of manyNames) writeFileSync(join(folder, name), three);
  process.chdir(folder);
  service = await startTestService({ VISAGE_WORKERS: "2" });
  url = `http://127.0.0.1:${service.port}`;
});
afterAll(async () => {
  process.chdir(startFolder);
  rmSync(folder, { recursive: true });
  await service.close();
});

function parseLines(text: string): Line[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}

function readLines(path: string): Line[] {
  return parseLines(readFileSync(path, "utf8"));
}

function namesOf(lines: readonly Line[]): string[] {
  return lines.map(({ file }) => file).toSorted();
}

function countLines(path: string): number {
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").length - 1 : 0;
}

/** Starts the command in a process of its own. */
function start(args: readonly string[]) {
  const child = spawn(process.execPath, [CLI, "analyze", ...args], {
    env: { PATH: process.env.PATH, ...ENV },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const result = Promise.all([once(child, "close"), child.stderr!.toArray()]).then(([[code], errors]) => ({
    code: code as number | null,
    stderr: errors.join(""),
  }));
  return { child, result };
}

describe("visage analyze --server", () => {
  test("prints the same lines as without a service, with single precision", async () => {
    const args = ["analyze", "mixed", "none.jpg", "--jsonl", "--embeddings"];
    const remote = await runInProcess([...args, "--server", `${url}/`], ENV);
    const local = await runInProcess(args, { VISAGE_WORKERS: "1" });
    expect(remote).toMatchObject({ code: 1, stderr: local.stderr });
    const [remoteLines, localLines] = [parseLines(remote.stdout), parseLines(local.stdout)];
    expect(remoteLines.map((line) => ("faces" in line ? line.faces.length : line.error))).toEqual([
      "The image is damaged or incomplete and cannot be read.",
      "The image is empty.",
      4,
      3,
      "no such file or directory",
    ]);
    expect(toSinglePrecision(remoteLines)).toEqual(toSinglePrecision(localLines));
  });

  test.each(["text", "json", "csv"])("writes %s as without a service", async (format) => {
    const args = ["analyze", "mixed", ...(format === "text" ? [] : [`--${format}`])];
    const remote = await runInProcess([...args, "--server", url], ENV);
    const local = await runInProcess(args, { VISAGE_WORKERS: "1" });
    expect(remote).toMatchObject({ code: 1, stderr: local.stderr });
    expect(remote.stderr).toContain("2 of 4 photos failed");
    if (format === "json") expect(photosOf(remote.stdout)).toEqual(photosOf(local.stdout));
    else expect(remote.stdout).toBe(local.stdout);
  });

  test("draws the faces that the service found", async () => {
    const args = ["analyze", "mixed/three.jpg", "--draw"];
    const { stderr } = await runInProcess([...args, "remote.png", "--server", url], ENV);
    expect(stderr).toBe("Wrote remote.png\n");
    await runInProcess([...args, "local.png"], { VISAGE_WORKERS: "1" });
    const [remote, local] = await Promise.all(
      ["remote.png", "local.png"].map((file) => sharp(readFileSync(file)).raw().toBuffer()),
    );
    // A rounded number may move the edge of a line.
    const different = remote!.filter((value, i) => value !== local![i]).length;
    expect(different / local!.length).toBeLessThan(0.001);
  });

  test("VISAGE_URL names the service, unless --server does", async () => {
    const args = ["analyze", "mixed/three.jpg", "--jsonl", "--embeddings"];
    const used = await runInProcess(args, { ...ENV, VISAGE_URL: `${url}/` });
    expect(used).toEqual(await runInProcess([...args, "--server", url], ENV));
    const nowhere = { ...ENV, VISAGE_URL: `http://127.0.0.1:${await freePort()}` };
    expect(await runInProcess(args, nowhere)).toMatchObject({ code: 1, stdout: "" });
    expect(await runInProcess([...args, "--server", url], nowhere)).toEqual(used);
  });

  test("without --embeddings the lines have neither embeddings nor the model", async () => {
    const { stdout } = await runInProcess(["analyze", "mixed/three.jpg", "--jsonl", "--server", url], ENV);
    const [line] = parseLines(stdout) as [AnalysisReport];
    expect(Object.keys(line)).toEqual(["file", "width", "height", "faces"]);
    expect(line.faces.map(({ embedding }) => embedding)).toEqual([undefined, undefined, undefined]);
  });

  test("takes the key as an option, and it wins over the environment", async () => {
    const args = ["analyze", "mixed/three.jpg", "--jsonl", "--server", url, "--key", USER];
    expect(await runInProcess(args, { VISAGE_KEY: "somebody-else" })).toMatchObject({ code: 0, stderr: "" });
  });

  test("trusts the authorities of --ca", async () => {
    const pems = await generate([{ name: "commonName", value: "localhost" }], {
      extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }] }],
    });
    writeFileSync("cert.pem", pems.cert);
    writeFileSync("key.pem", pems.private);
    const secured = await startTestService({ VISAGE_TLS_CERT: "cert.pem", VISAGE_TLS_KEY: "key.pem" });
    onTestFinished(() => secured.close());
    const args = ["analyze", "mixed/three.jpg", "--jsonl", "--server", `https://localhost:${secured.port}`];
    expect(await runInProcess([...args, "--ca", "cert.pem"], ENV)).toMatchObject({ code: 0, stderr: "" });
    const untrusted = await runInProcess(args, ENV);
    expect(untrusted).toMatchObject({ code: 1, stdout: "" });
    expect(untrusted.stderr).toContain("self-signed certificate");
    const missing = await runInProcess([...args, "--ca", "none.pem"], ENV);
    expect(missing).toEqual({ code: 1, stdout: "", stderr: "visage: none.pem: no such file or directory\n" });
  });

  test("an unknown key ends the command at once", async () => {
    const args = ["analyze", "many", "--jsonl", "--server", url, "--output", "unknown.jsonl"];
    const { code, stderr } = await runInProcess(args, { VISAGE_KEY: "nobody-at-all" });
    expect(code).toBe(1);
    expect(stderr.split("\n")).toEqual([
      "Wrote unknown.jsonl: 0 photos, 0 faces",
      `visage: ${url}: The key in the header user_id or x-api-key or in the Bearer token is unknown or expired or disabled; continue with --resume`,
      "",
    ]);
  });

  test("a service that is not reachable ends the command after a few attempts", async () => {
    const address = `http://127.0.0.1:${await freePort()}`;
    const { code, stdout, stderr } = await runInProcess(
      ["analyze", "many", "--jsonl", "--server", address],
      ENV,
    );
    expect([code, stdout]).toEqual([1, ""]);
    const [retry, failure, ...rest] = stderr.split("\n");
    expect(retry).toMatch(/^visage: connect ECONNREFUSED \S+; trying again in 0\.\d s$/);
    expect(failure).toMatch(/^visage: http:\S+: connect ECONNREFUSED \S+ \(after 3 attempts\)$/);
    expect(rest).toEqual([""]);
  });

  test.each([
    ["a used up quota", { requestsPerMonth: 5 }, () => ({}), "The monthly quota of requests is used up"],
    [
      "the end of a subscription",
      {},
      () => ({ endsAt: new Date(Date.now() + 1_000) }),
      "The user has no active subscription",
    ],
  ])(
    "%s ends the command, and photos without an answer have no line",
    async (name, plan, changes, reason) => {
      const dataDir = mkdtempSync(join(tmpdir(), "visage-limited-"));
      const limited = await startTestService({ VISAGE_DATA_DIR: dataDir });
      onTestFinished(() => limited.close());
      const store = await openAccountStore({ databaseUrl: undefined, dataDir });
      await addTestUser(store, "limited-user", plan, changes());
      await store.close();
      const server = ["--server", `http://127.0.0.1:${limited.port}`, "--key", "limited-user"];
      const photos = Array<string>(20).fill("many");
      const { code, stderr } = await runInProcess([
        "analyze",
        ...photos,
        "--output",
        `${name}.jsonl`,
        ...server,
      ]);
      expect(code).toBe(1);
      expect(stderr).toContain(`${reason}; continue with --resume`);
      const lines = readLines(`${name}.jsonl`);
      expect(lines.length).toBeLessThan(20 * MANY);
      expect(lines.filter((line) => "error" in line)).toEqual([]);
    },
  );

  test("a photo that is larger than the service accepts fails alone", async () => {
    const small = await startTestService({ VISAGE_MAX_REQUEST_BYTES: "200000" });
    onTestFinished(() => small.close());
    mkdirSync("sizes");
    for (const name of ["1", "2", "4", "5", "7"])
      writeFileSync(`sizes/${name}.jpg`, readFileSync(manyNames[0]!));
    for (const name of ["3", "6"]) writeFileSync(`sizes/${name}.jpg`, photograph(6));
    const TOO_LARGE = "The request body is larger than 200000 bytes.";
    const args = ["analyze", "sizes", "--jsonl", "--server", `http://127.0.0.1:${small.port}`];
    const { code, stdout, stderr } = await runInProcess(args, ENV);
    expect(parseLines(stdout).map((line) => ("error" in line ? line.error : line.faces.length))).toEqual([
      ...[3, 3, TOO_LARGE, 3, 3, TOO_LARGE, 3],
    ]);
    expect(stderr).toBe('visage: 2 of 7 photos failed; "error" in the output has the reasons\n');
    expect(code).toBe(1);
  });

  test("an output that nobody reads stops the sending", async () => {
    mkdirSync("empty");
    for (let i = 0; i < 600; i++) writeFileSync(`empty/${i}.jpg`, "");
    const sent = async () =>
      (await readMetrics(service.metricsPort!)).value("visage_requests_total", {
        operation: "visage.v1.analyze_images.item",
      });
    const before = await sent();
    let text = "";
    let resume: (() => void) | undefined;
    const stdout = new Writable({
      highWaterMark: 1,
      decodeStrings: false,
      write(chunk: string, _, done) {
        text += chunk;
        if (resume) done();
        else resume = done;
      },
    });
    const command = runInProcess(["analyze", "empty", "--jsonl", "--server", url], ENV, { stdout });
    await expect.poll(() => text, WITHIN_30_SECONDS).not.toBe("");
    let last = -1;
    for (let now = await sent(); now > last; now = await sent()) {
      last = now;
      await setTimeout(500);
    }
    expect(parseLines(text)).toHaveLength(1);
    expect(last - before).toBeLessThan(300);
    resume!();
    expect(await command).toMatchObject({ code: 1 });
    expect(parseLines(text)).toHaveLength(600);
    expect((await sent()) - before).toBe(600);
  });
});

describe("a service that goes away while photos are on the way", () => {
  /** Starts the command, replaces its service, and expects a line for each photo. */
  async function expectAllPhotos(
    output: string,
    port: number,
    key: string,
    restart: () => Promise<void>,
  ): Promise<void> {
    const server = ["--server", `http://127.0.0.1:${port}`, "--key", key];
    const { result } = start(["many", "--output", output, ...server]);
    await expect.poll(() => countLines(output), WITHIN_30_SECONDS).toBeGreaterThan(5);
    await restart();
    expect(await result).toMatchObject({ code: 0 });
    expect(namesOf(readLines(output))).toEqual(manyNames);
  }

  test("after a clean shutdown loses no photo and repeats none", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "visage-restart-"));
    const port = await freePort();
    const settings = { VISAGE_DATA_DIR: dataDir, VISAGE_PORT: `${port}` };
    const before = await startTestService(settings);
    await expectAllPhotos("shutdown.jsonl", port, USER, async () => {
      await before.close();
      expect(countLines("shutdown.jsonl")).toBeLessThan(MANY);
      mkdirSync(dataDir, { recursive: true });
      const after = await startTestService(settings);
      onTestFinished(() => after.close());
    });
  });

  test("after a crash loses no photo and repeats none", async () => {
    const port = await freePort();
    const settings = { VISAGE_PORT: `${port}`, VISAGE_WORKERS: "1" };
    const before = await startServiceProcess(settings);
    onTestFinished(() => before.stop("SIGKILL"));
    await expectAllPhotos("crash.jsonl", port, PROCESS_USER, async () => {
      process.kill(before.pid, "SIGKILL");
      await before.exitCode;
      expect(countLines("crash.jsonl")).toBeLessThan(MANY);
      const after = await startServiceProcess(settings);
      onTestFinished(() => after.stop("SIGKILL"));
    });
  });
});

describe("visage analyze --resume", () => {
  test("continues after a kill: no photo twice, none lost", async () => {
    const args = ["many", "--output", "killed.jsonl", "--server", url];
    const { child, result } = start(args);
    await expect.poll(() => countLines("killed.jsonl"), WITHIN_30_SECONDS).toBeGreaterThan(5);
    child.kill("SIGKILL");
    await result;
    const written = countLines("killed.jsonl");
    expect(written).toBeLessThan(MANY);
    appendFileSync("killed.jsonl", '{"file":"many/0');
    const left = MANY - written;
    expect(await start([...args, "--resume"]).result).toEqual({
      code: 0,
      stderr: `Wrote killed.jsonl: ${left} photos, ${3 * left} faces, and ${written} photos from before\n`,
    });
    expect(namesOf(readLines("killed.jsonl"))).toEqual(manyNames);
  });

  test("an interrupted command says how to continue", async () => {
    const controller = new AbortController();
    const stderr = new TextOutput();
    const args = ["analyze", "many", "--output", "interrupted.jsonl", "--server", url];
    const command = runInProcess(args, ENV, { stderr, interruptSignal: () => controller.signal });
    await expect.poll(() => countLines("interrupted.jsonl"), WITHIN_30_SECONDS).toBeGreaterThan(5);
    controller.abort(new Interruption(130));
    expect((await command).code).toBe(130);
    const written = countLines("interrupted.jsonl");
    expect(written).toBeLessThan(MANY);
    expect(stderr.text).toContain(`visage: Interrupted after ${written} photos; continue with --resume\n`);
    expect(await runInProcess([...args, "--resume"], ENV)).toMatchObject({ code: 0 });
    expect(namesOf(readLines("interrupted.jsonl"))).toEqual(manyNames);
  });

  test("without photos left it only reports", async () => {
    const args = ["analyze", "mixed", "--output", "done.jsonl", "--server", url, "--resume"];
    expect((await runInProcess(args, ENV)).code).toBe(1);
    const text = readFileSync("done.jsonl", "utf8");
    for (const again of [args, ["analyze", "mixed", "--output", "done.jsonl", "--resume"]])
      expect(await runInProcess(again, ENV)).toEqual({
        code: 1,
        stdout: "",
        stderr:
          "Wrote done.jsonl: 0 photos, 0 faces, and 4 photos from before\n" +
          'visage: 2 of 4 photos failed; "error" in the output has the reasons\n',
      });
    expect(readFileSync("done.jsonl", "utf8")).toBe(text);
  });
});

test.each([
  [
    ["--server", "localhost:8080", "--jsonl"],
    "'--server' must be a URL such as http://localhost:8080, not 'localhost:8080'",
  ],
  [
    ["--server", "http://localhost:8080", "--jsonl", "--key", "a b"],
    "'--key' must be 8 to 128 printable characters without spaces",
  ],
  [["--key", "some-key"], "'--key' requires '--server' or VISAGE_URL"],
  [["--ca", "ca.pem"], "'--ca' requires '--server' or VISAGE_URL"],
  [["--resume", "--jsonl"], "'--resume' requires '--output'"],
  [["--resume", "--output", "a.csv"], "'--resume' requires '--jsonl'"],
  [["--server", "http://localhost:8080"], "'--key' or VISAGE_KEY is required for a service"],
])("rejects %j", async (args, reason) => {
  expect(await runInProcess(["analyze", "mixed", ...args])).toEqual({
    code: 2,
    stdout: "",
    stderr: `visage: Option ${reason}; see "visage analyze --help"\n`,
  });
});

test("the help names the options", async () => {
  const { stdout } = await runInProcess(["analyze", "--help"]);
  for (const option of ["--server URL", "--key KEY", "--ca FILE", "--resume", "VISAGE_KEY"])
    expect(stdout).toContain(option);
});

/** The entries of JSON output, without the model, which a service names only beside an embedding. */
function photosOf(text: string): unknown {
  const entries = JSON.parse(text) as AnalysisReport[];
  return toSinglePrecision(entries.map(({ model, ...entry }) => entry));
}

/** Rounds all numbers to single precision, as the service sends them. */
function toSinglePrecision(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, item) => (typeof item === "number" ? Math.fround(item) : item)),
  );
}
