import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT, readVersion } from "../../src/package-root.ts";
import { readPort } from "../../tools/support/service-process.ts";
import { type CapturedLog, captureLog, type LogLine } from "../support/log.ts";
import { type Collector, startCollector } from "../support/otlp.ts";
import { ADMIN_KEY, startTestService, USER } from "../support/service.ts";

test("every line has the version and the instance", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "visage-lines-"));
  const server = spawn(process.execPath, [join(PACKAGE_ROOT, "dist/src/cli/main.js"), "serve"], {
    env: {
      VISAGE_HOST: "127.0.0.1",
      VISAGE_PORT: "0",
      VISAGE_METRICS_PORT: "0",
      VISAGE_DATA_DIR: dataDir,
      VISAGE_TRIAL_USER: USER,
      // A warning is another line than that of a request.
      OTEL_RESOURCE_ATTRIBUTES: "nothing",
      VISAGE_WORKERS: "1",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = text(server.stderr);
  const port = await readPort(server.stdout, /http:\/\/127\.0\.0\.1:(\d+)/);
  await (await fetch(`http://127.0.0.1:${port}/get_face_vec`, { method: "POST" })).arrayBuffer();
  server.kill("SIGTERM");
  const lines = (await log)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as LogLine);
  rmSync(dataDir, { recursive: true });
  expect(lines.map(({ event, outcome }) => event ?? outcome)).toEqual(["setting ignored", "NO_USER_ID"]);
  for (const line of lines)
    expect(line).toMatchObject({ "service.version": readVersion(), "service.instance.id": hostname() });
});

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;

/** Sends a request with several log lines: a stream with two images. */
async function sendRequest({ port }: RunningService, requestId: string, headers = {}): Promise<void> {
  const image = { uri: "http://127.0.0.1:1/" };
  const line = JSON.stringify({ key: "1", request: { image } });
  const response = await fetch(`http://127.0.0.1:${port}/v1/images:analyzeStream`, {
    method: "POST",
    headers: { "x-api-key": USER, "x-request-id": requestId, ...headers },
    body: `${line}\n${line}\n`,
  });
  await response.arrayBuffer();
}

/** The trace ids of each request's lines. */
function traceIdsByRequest(lines: readonly LogLine[]): Map<string, unknown[]> {
  const ids = new Map<string, unknown[]>();
  for (const { requestId, trace_id } of lines)
    if (typeof requestId === "string") ids.set(requestId, [...(ids.get(requestId) ?? []), trace_id]);
  return ids;
}

describe("without a collector", () => {
  test("all lines of a request have the trace id of a valid traceparent, others none", async () => {
    const { log, lines } = captureLog();
    const service = await startTestService({ VISAGE_FETCH_ALLOW: "127.0.0.1" }, log);
    await sendRequest(service, "traced", { traceparent: TRACEPARENT });
    await sendRequest(service, "plain");
    await sendRequest(service, "hostile", { traceparent: `${TRACEPARENT},"level":"fatal"` });
    await service.close();
    const ids = [...traceIdsByRequest(lines)];
    expect(ids.map(([, { length }]) => length).every((length) => length >= 2)).toBe(true);
    expect(ids).toHaveLength(3);
    for (const [requestId, traceIds] of ids) {
      const expected = requestId.startsWith("traced") ? TRACE_ID : undefined;
      expect(new Set(traceIds), requestId).toEqual(new Set([expected]));
    }
  });
});

describe("with a collector", () => {
  let collector: Collector;
  let captured: CapturedLog;
  beforeAll(async () => {
    collector = await startCollector();
    captured = captureLog();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, VISAGE_FETCH_ALLOW: "127.0.0.1" };
    const service = await startTestService(env, captured.log);
    await sendRequest(service, "one");
    await service.close();
  });
  afterAll(() => collector.close());

  test("all lines of a request have the id of the trace that is exported", () => {
    const ids = [...traceIdsByRequest(captured.lines).values()].map((traceIds) => new Set(traceIds));
    expect(ids.map(({ size }) => size)).toEqual([1]);
    const exported = new Set(collector.spans.map(({ traceId }) => traceId));
    expect(new Set(ids.flatMap((set) => [...set]))).toEqual(exported);
    expect(exported.size).toBe(1);
  });
});

describe("a failed authentication", () => {
  let captured: CapturedLog;
  let service: RunningService;
  beforeAll(async () => {
    captured = captureLog();
    const env = { VISAGE_ADMIN_KEY: ADMIN_KEY, VISAGE_TRUSTED_PROXIES: "127.0.0.1" };
    service = await startTestService(env, captured.log);
  });
  afterAll(() => service.close());

  /** Sends a request and returns its log line. */
  async function lineOf(path: string, headers: Record<string, string>): Promise<LogLine> {
    const requestId = `request-${captured.lines.length}`;
    const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
      method: path.includes("admin") ? "GET" : "POST",
      headers: { "x-request-id": requestId, ...headers },
    });
    await response.arrayBuffer();
    const find = () => captured.lines.find((line) => line.requestId === requestId);
    await expect.poll(find).toBeDefined();
    return find()!;
  }

  test.each([
    ["no key", "/get_face_vec", {}, "NO_USER_ID", "none"],
    ["a wrong key", "/get_face_vec", { user_id: "nobody" }, "UNKNOWN_USER", "key"],
    ["a wrong admin key", "/v1/admin/users", { authorization: "Bearer nobody" }, "NO_ADMIN_KEY", "admin key"],
  ])("by %s is logged with the client address", async (_, path, headers, outcome, credential) => {
    const forwarded = { ...headers, "x-forwarded-for": "198.51.100.1, 203.0.113.5" };
    const line = await lineOf(path, forwarded as Record<string, string>);
    expect(line).toMatchObject({ outcome, "client.address": "203.0.113.5", credential });
    expect(JSON.stringify(line)).not.toContain("nobody");
  });

  test("of an admitted user is none, and its address is not logged", async () => {
    const line = await lineOf("/get_face_vec", { user_id: USER, "x-forwarded-for": "203.0.113.5" });
    expect(line).toMatchObject({ outcome: "BAD_REQUEST" });
    expect(JSON.stringify(line)).not.toContain("203.0.113.5");
  });

  test.each([
    '203.0.113.5","level":"fatal',
    "203.0.113.5\\",
    `fe80::1%${"z".repeat(8_000)}`,
    "203.0.113.5.evil.example",
    "",
    ", ,",
    "0x7f.1",
    "1".repeat(8_000),
    "203.0.113.5,".repeat(600),
  ])("is logged with an address only, whatever X-Forwarded-For says: %#", async (forwarded) => {
    const line = await lineOf("/get_face_vec", { user_id: "nobody", "x-forwarded-for": forwarded });
    expect(line["client.address"]).toBe("127.0.0.1");
  });

  test("in a flood is counted instead of logged", async () => {
    const before = captured.lines.length;
    const flood = async () => {
      for (let i = 0; i < 50; i++) {
        const headers = { user_id: `nobody-${i}`, "x-forwarded-for": "192.0.2.1" };
        const response = await fetch(`http://127.0.0.1:${service.port}/get_face_vec`, {
          method: "POST",
          headers,
        });
        expect([401, 429]).toContain(response.status);
        await response.arrayBuffer();
      }
    };
    await Promise.all(Array.from({ length: 8 }, flood));
    // The period may have ended a few times on a slow machine.
    expect(captured.lines.length - before).toBeLessThan(100);
    const counted = () =>
      captured.events("failed authentications not logged").reduce((sum, { lines }) => sum + Number(lines), 0);
    const logged = captured.lines.filter((line) => line["client.address"] === "192.0.2.1").length;
    await expect.poll(counted, { timeout: 60_000 }).toBe(400 - logged);
  });
});
