import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { FaceService, GetFaceVecRequestSchema } from "../../gen/ts/face/v1/face_pb.ts";
import {
  ErrorInfoSchema,
  QuotaFailureSchema,
  RetryInfoSchema,
} from "../../gen/ts/google/rpc/error_details_pb.ts";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import { addTestUser } from "../support/accounts.ts";
import { photograph } from "../support/images.ts";
import { createProtocolClients } from "../support/protocol-clients.ts";
import { openSocket, readResponse } from "../support/raw-http.ts";
import { startTestService, USER } from "../support/service.ts";

const WAIT = { timeout: 20_000, interval: 100 };

let service: RunningService;
/** The accounts of the service, opened as another process would. */
let store: AccountStore;
const dataDir = mkdtempSync(join(tmpdir(), "visage-accounts-"));
beforeAll(async () => {
  service = await startTestService({ VISAGE_DATA_DIR: dataDir, VISAGE_TRUSTED_PROXIES: "127.0.0.0/8" });
  store = await openAccountStore({ databaseUrl: undefined, dataDir });
});
afterAll(async () => {
  await store.close();
  await service.close();
  rmSync(dataDir, { recursive: true });
});

async function send(userId: string, fields: object = {}, headers: Record<string, string> = {}) {
  const response = await fetch(`http://127.0.0.1:${service.port}/get_face_vec`, {
    method: "POST",
    headers: { user_id: userId, "content-type": "application/json", ...headers },
    body: JSON.stringify(fields),
  });
  return {
    status: response.status,
    headers: response.headers,
    envelope: (await response.json()) as { code: string; message: string },
  };
}

const PHOTO = { img: photograph(3).toString("base64") };

describe("every protocol", () => {
  test.each([
    ["4003", "ended", {}, { endsAt: new Date("2021-01-01T00:00:00Z") }],
    ["4003", "not-started", {}, { startsAt: new Date(Date.now() + 86_400_000) }],
    ["4004", "spent", { requestsPerMonth: 0 }, {}],
    ["4002", "disabled", {}, { enabled: false }],
  ])("responds %s if the account is %s", async (code, id, limits, changes) => {
    await addTestUser(store, id, limits, changes);
    const request = create(GetFaceVecRequestSchema, {});
    for (const client of createProtocolClients(service.port, id)) {
      expect(await client.call("getFaceVec", request), client.name).toMatchObject({ code });
    }
  });
});

describe("a key", () => {
  /** Failures of another address do not limit the other tests. */
  const ELSEWHERE = { "x-forwarded-for": "203.0.113.20" };
  const request = create(GetFaceVecRequestSchema, {});

  test.each([
    ["user_id", (key: string) => ({ user_id: key })],
    ["x-api-key", (key: string) => ({ "x-api-key": key })],
    ["a Bearer token", (key: string) => ({ authorization: `Bearer ${key}` })],
    ["several headers", (key: string) => ({ "x-api-key": key, user_id: key })],
    [
      "a header beside the Basic authentication of a proxy",
      (key: string) => ({ user_id: key, authorization: "Basic YTpi" }),
    ],
  ])("is accepted as %s over every protocol", async (_, headersWith) => {
    for (const client of createProtocolClients(service.port, headersWith(USER)))
      expect(await client.call("getFaceVec", request), client.name).toMatchObject({ code: "2001" });
    for (const client of createProtocolClients(service.port, {
      ...headersWith("nobody-has-this"),
      ...ELSEWHERE,
    }))
      expect(await client.call("getFaceVec", request), client.name).toMatchObject({ code: "4002" });
  });

  test("of another user in the same request is rejected over every protocol", async () => {
    await addTestUser(store, "another-user");
    const headers = { user_id: USER, "x-api-key": "another-user", ...ELSEWHERE };
    for (const client of createProtocolClients(service.port, headers))
      expect(await client.call("getFaceVec", request), client.name).toEqual({
        code: "4002",
        message: "The credentials of the request do not belong to one user.",
      });
  });

  test("is rejected beside a second Authorization header, over HTTP/1.1 and HTTP/2", async () => {
    const values = [`Bearer ${USER}`, "Bearer nobody-has-this"];
    const socket = await openSocket(service.port);
    const lines = values.map((value) => `Authorization: ${value}\r\n`).join("");
    socket.write(`POST /get_face_vec HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n${lines}\r\n`);
    expect((await readResponse(socket)).status).toBe(401);
    socket.destroy();
    // Node's HTTP/2 client sends one header twice only for names that are not reserved.
    const session = connect(`http://127.0.0.1:${service.port}`);
    const stream = session.request({
      ":method": "POST",
      ":path": "/get_face_vec",
      "x-api-key": [USER, "nobody"],
    });
    stream.resume().end();
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    expect(headers[":status"]).toBe(401);
    session.close();
  });
});

describe("a response with status 401 has a challenge", () => {
  const TARGETS = ["/get_face_vec", "/face.v1.FaceService/GetFaceVec"];

  test.each([
    ["for a missing key", {}, 'Bearer realm="visage"'],
    ["for another scheme", { authorization: "Basic YTpi" }, 'Bearer realm="visage"'],
    ["for an unknown key", { "x-api-key": "unknown-key" }, 'Bearer realm="visage", error="invalid_token"'],
  ])("%s", async (_, credentials, challenge) => {
    for (const target of TARGETS) {
      const { status, headers } = await fetch(`http://127.0.0.1:${service.port}${target}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...credentials },
        body: "{}",
      });
      expect([status, headers.get("www-authenticate")], target).toEqual([401, challenge]);
    }
  });
});

describe("plain HTTP", () => {
  test("states the remaining quota of the month, and counts only successes against it", async () => {
    await addTestUser(store, "monthly", { requestsPerMonth: 2 });
    expect((await send("monthly")).status).toBe(400);
    const first = await send("monthly", PHOTO);
    expect(first.status).toBe(200);
    expect(first.headers.get("ratelimit-limit")).toBe("2");
    expect(first.headers.get("ratelimit-remaining")).toBe("1");
    expect(Number(first.headers.get("ratelimit-reset"))).toBeGreaterThan(0);
    expect((await send("monthly", PHOTO)).status).toBe(200);
    const { status, headers, envelope } = await send("monthly", PHOTO);
    expect([status, envelope.code]).toEqual([429, "4004"]);
    expect(headers.get("ratelimit-remaining")).toBe("0");
    expect(headers.get("retry-after")).toBeNull();
    expect(envelope).toMatchObject({ data: { reason: "QUOTA_SPENT", retryable: false } });
    expect(Number(headers.get("ratelimit-reset"))).toBeGreaterThan(0);
  });

  test("states the delay before a retry if the rate limit is exceeded", async () => {
    await addTestUser(store, "hasty", { requestsPerSecond: 0.1, burst: 2 });
    await send("hasty");
    await send("hasty");
    const { status, headers, envelope } = await send("hasty");
    expect([status, envelope.code]).toEqual([429, "4005"]);
    expect(headers.get("retry-after")).toBe("10");
    expect(headers.get("ratelimit-limit")).toBe("2");
  });

  test("names the headers of a missing key", async () => {
    const { envelope } = await send("");
    expect(envelope).toMatchObject({
      code: "4001",
      message: expect.stringMatching(/user_id.*x-api-key.*Bearer/),
    });
  });

  test("does not request the body of an unauthenticated client that waits for 100 Continue", async () => {
    const socket = await openSocket(service.port);
    const head = "POST /get_face_vec HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n";
    socket.write(`${head}\r\n`);
    const [first] = await once(socket, "data");
    expect(String(first)).toMatch(/^HTTP\/1\.1 401 [\s\S]*connection: close/i);
    socket.destroy();
    const known = await openSocket(service.port);
    known.write(`${head}user_id: ${USER}\r\n\r\n`);
    const [asked] = await once(known, "data");
    expect(String(asked)).toMatch(/^HTTP\/1\.1 100 Continue/);
    known.write("img=aGVsb");
    expect((await readResponse(known)).status).toBe(415);
    known.destroy();
  });

  test("enforces the image size limit of the plan", async () => {
    await addTestUser(store, "small", { maxImageBytes: 1000 });
    const { status, envelope } = await send("small", PHOTO);
    expect(status).toBe(413);
    expect(envelope).toMatchObject({
      code: "2005",
      message: expect.stringContaining("the limit of the plan is 1000"),
    });
  });
});

test("gRPC states the exceeded quota and the delay before a retry", async () => {
  await addTestUser(store, "grpc-hasty", { requestsPerSecond: 0.1, burst: 1 });
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${service.port}` });
  const call = () =>
    createClient(FaceService, transport).getFaceVec({}, { headers: { user_id: "grpc-hasty" } });
  await expect(call()).rejects.toMatchObject({ code: Code.InvalidArgument });
  const error = ConnectError.from(await call().catch((error: unknown) => error));
  expect(error.code).toBe(Code.ResourceExhausted);
  expect(error.findDetails(QuotaFailureSchema)).toMatchObject([
    { violations: [{ subject: "requests per second" }] },
  ]);
  expect(error.findDetails(RetryInfoSchema)).toMatchObject([{ retryDelay: { seconds: 10n } }]);
  expect(error.metadata.get("ratelimit-limit")).toBe("1");
});

test.each([
  ["gRPC", createGrpcTransport, "-1"],
  ["gRPC-Web", createGrpcWebTransport, "-1"],
  ["Connect", createConnectTransport, null],
] as const)(
  "%s states that a spent quota is not to be retried",
  async (protocol, createTransport, pushback) => {
    const name = `spent-${protocol}`;
    await addTestUser(store, name, { requestsPerMonth: 0 });
    const transport = createTransport({ baseUrl: `http://127.0.0.1:${service.port}`, httpVersion: "2" });
    const call = createClient(FaceService, transport).getFaceVec({}, { headers: { user_id: name } });
    const error = ConnectError.from(await call.catch((error: unknown) => error));
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
      { reason: "QUOTA_SPENT", metadata: { retryable: "false" } },
    ]);
    expect(error.findDetails(RetryInfoSchema)).toEqual([]);
    expect(error.metadata.get("retry-after")).toBeNull();
    expect(error.metadata.get("grpc-retry-pushback-ms")).toBe(pushback);
    expect(Number(error.metadata.get("ratelimit-reset"))).toBeGreaterThan(0);
  },
);

test("usage is counted by operation and outcome, also for failed requests", async () => {
  const { id } = await addTestUser(store, "counted");
  await send("counted", PHOTO);
  await send("counted", {});
  await send("counted", { img: "aGVsbG8gd29ybGQ=" });
  const headers = { user_id: "counted" };
  await fetch(`http://127.0.0.1:${service.port}/match_faces`, { method: "POST", headers, body: "{" });
  // An unknown path is rejected before its user is looked up.
  await fetch(`http://127.0.0.1:${service.port}/nowhere`, { method: "POST", headers });
  // Connect rejects this request before the interceptors run.
  await fetch(`http://127.0.0.1:${service.port}/face.v1.FaceService/CompareFaces`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: "{",
  });
  await vi.waitFor(async () => {
    const usage = await store.listUsage({ userId: id });
    expect(
      usage.map(({ operation, outcome, count }) => `${operation} ${outcome} ${count}`).toSorted(),
    ).toEqual([
      "compare_faces BAD_REQUEST 1",
      "get_face_vec BAD_REQUEST 1",
      "get_face_vec UNSUPPORTED_FORMAT 1",
      "get_face_vec ok 1",
      "match_faces BAD_REQUEST 1",
    ]);
  }, WAIT);
});

test("a disabled user is rejected soon", async () => {
  const { id } = await addTestUser(store, "leaving");
  expect((await send("leaving")).status).toBe(400);
  await store.updateUser(id, { enabled: false });
  await vi.waitFor(async () => expect((await send("leaving")).status).toBe(401), WAIT);
});

test("failed authentications are limited by the address that a trusted proxy states", async () => {
  const from = (address: string) => send("unknown-user", {}, { "x-forwarded-for": address });
  const answers = await Promise.all(Array.from({ length: 80 }, () => from("203.0.113.9")));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]));
  expect((await from("203.0.113.10")).status).toBe(401);
  // A known user is not affected.
  expect((await send(USER, {}, { "x-forwarded-for": "203.0.113.9" })).status).toBe(400);
});
