import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { LIMITS } from "../../src/http/limits.ts";
import type { RunningService } from "../../src/main.ts";
import { addTestUser } from "../support/accounts.ts";
import { openSocket, readResponse, sendRaw } from "../support/raw-http.ts";
import { ADMIN_KEY, startTestService, USER } from "../support/service.ts";

const MAX_REQUEST_BYTES = 1_000;

let dataDir: string;
let service: RunningService;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "visage-typed-errors-"));
  const store = await openAccountStore({ databaseUrl: undefined, dataDir });
  await addTestUser(store, "ended-user", {}, { endsAt: new Date("2021-01-01T00:00:00Z") });
  await addTestUser(store, "spent-user", { requestsPerMonth: 0 });
  await store.close();
  service = await startTestService({
    VISAGE_DATA_DIR: dataDir,
    VISAGE_ADMIN_KEY: ADMIN_KEY,
    VISAGE_MAX_REQUEST_BYTES: String(MAX_REQUEST_BYTES),
  });
});
afterAll(async () => {
  await service.close();
  await rm(dataDir, { recursive: true });
});

/** A request: method, path, headers and body. */
type Sent = readonly [string, string, Readonly<Record<string, string>>?, string?];

const SEND: Readonly<Record<string, (port: number, sent: Sent) => Promise<[number, string]>>> = {
  "HTTP/1.1": async (port, [verb, path, headers = {}, body = ""]) => {
    const all = { host: "a", ...headers, "content-length": String(body.length) };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    const head = [`${verb} ${path} HTTP/1.1`, ...lines, "", ""].join("\r\n");
    const response = await sendRaw(port, Buffer.from(head + body));
    return [response.status, response.body];
  },
  "HTTP/2": async (port, [verb, path, headers = {}, body = ""]) => {
    const session = connect(`http://127.0.0.1:${port}`).on("error", () => {});
    onTestFinished(() => session.destroy());
    const { host = "a", expect: _, ...others } = headers;
    const head = { ":method": verb, ":path": path, ":authority": host, ...others };
    const stream = session.request(head, { endStream: false });
    stream.end(body);
    const [received] = (await once(stream, "response")) as [IncomingHttpHeaders];
    return [Number(received[":status"]), await text(stream)];
  },
};

/** Expects a google.rpc.Status as JSON, with the reason that is repeated in its details. */
function expectStatus(body: string, reason: string): void {
  const status = JSON.parse(body) as { details: unknown[] };
  expect(status).toMatchObject({ code: expect.any(Number), message: expect.any(String), reason });
  expect(status).toHaveProperty("retryable");
  expect(status.details[0]).toMatchObject({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason });
  expect(status).not.toHaveProperty("success");
}

const user = (key: string) => ({ user_id: key });
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const LONG = "x".repeat(MAX_REQUEST_BYTES + 1);

const CASES: readonly (readonly [number, string, Sent])[] = [
  [404, "NO_SUCH_PATH", ["GET", "/v1/nothing"]],
  [404, "NO_SUCH_PATH", ["GET", "/v1/"]],
  [404, "NO_SUCH_PATH", ["POST", "/v1/images:nothing?x=1", user(USER), "{}"]],
  [404, "NO_SUCH_PATH", ["GET", "/v1/nothing", { user_key: "first generation" }]],
  [405, "WRONG_METHOD", ["PUT", "/v1/account"]],
  [405, "WRONG_METHOD", ["PUT", "/v1/admin/users/somebody"]],
  [400, "BAD_REQUEST", ["GET", "/v1/account", { host: "@" }]],
  [400, "BAD_REQUEST", ["GET", "/v1/nothing", { host: "@" }]],
  [400, "BAD_REQUEST", ["POST", "/v1/faces:compare", user(USER), "{"]],
  [401, "NO_USER_ID", ["GET", "/v1/account"]],
  [401, "NO_ADMIN_KEY", ["GET", "/v1/admin/users"]],
  [402, "NO_SUBSCRIPTION", ["POST", "/v1/images:analyze", user("ended-user"), "{}"]],
  [403, "CROSS_ORIGIN", ["GET", "/v1/admin/users", { ...bearer(ADMIN_KEY), origin: "http://evil.test" }]],
  [413, "REQUEST_TOO_LARGE", ["POST", "/v1/images:analyze", user(USER), LONG]],
  [413, "REQUEST_TOO_LARGE", ["POST", "/v1/admin/users", bearer(ADMIN_KEY), LONG]],
  [
    415,
    "UNSUPPORTED_ENCODING",
    ["POST", "/v1/images:analyze", { ...user(USER), "content-encoding": "gzip" }],
  ],
  [429, "QUOTA_SPENT", ["POST", "/v1/images:analyze", user("spent-user"), "{}"]],
  [404, "NO_SUCH_PATH", ["GET", "/v1/nothing", { expect: "nothing" }]],
];

describe.each(Object.entries(SEND))("below /v1/, %s", (_, send) => {
  test.each(CASES)("%i %s is a google.rpc.Status: %j", async (status, reason, sent) => {
    const [received, body] = await send(service.port, sent);
    expect(received, body).toBe(status);
    expectStatus(body, reason);
  });

  test.each(["/v1", "/v10/x", "/nothing", "/V1/x"])(
    "%s is not below it and has the envelope",
    async (path) => {
      const [received, body] = await send(service.port, ["GET", path]);
      expect(received).toBe(404);
      expect(JSON.parse(body)).toMatchObject({ code: "4040", success: false });
    },
  );
});

test("the whole URL that a client sends to a proxy is below /v1/, too", async () => {
  const [received, body] = await SEND["HTTP/1.1"]!(service.port, ["GET", "http://proxy.test/v1/nothing"]);
  expect(received).toBe(404);
  expectStatus(body, "NO_SUCH_PATH");
});

describe("a head that never became an HTTP/1.1 request", () => {
  const longHeader = `X: ${"x".repeat(LIMITS.headBytes)}`;

  test.each([
    [431, "HEADERS_TOO_LARGE", `GET /v1/account HTTP/1.1\r\nHost: a\r\n${longHeader}\r\n\r\n`],
    [400, "BAD_REQUEST", "GET /v1/account HTTP/1.1\r\nHost a\r\n\r\n"],
    [400, "BAD_REQUEST", "GET http://a/v1/account HTTP/1.1\r\nHost a\r\n\r\n"],
    [400, "BAD_REQUEST", "POST /v1/faces:compare HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n"],
  ])("is answered by %i %s as a google.rpc.Status if its path is known", async (status, reason, head) => {
    const response = await sendRaw(service.port, Buffer.from(head));
    expect(response.status).toBe(status);
    expectStatus(response.body, reason);
  });

  test("belongs to the last request line of its packet", async () => {
    const socket = await openSocket(service.port);
    onTestFinished(() => void socket.destroy());
    const first = "GET /v1/nothing HTTP/1.1\r\nHost: a\r\n\r\n";
    socket.write(`${first}GET /nothing HTTP/1.1\r\nHost a\r\n\r\n`);
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk;
    });
    await once(socket, "close");
    expect(received).toContain('"2001"');
  });

  test.each(["GET /get_face_vec HTTP/1.1\r\nHost a\r\n\r\n", "\x01\x02 /v1/\r\n\r\n"])(
    "has the envelope for another path: %j",
    async (head) => {
      const socket = await openSocket(service.port);
      onTestFinished(() => void socket.destroy());
      socket.write(head);
      expect(JSON.parse((await readResponse(socket)).body)).toMatchObject({ code: "2001", success: false });
    },
  );
});

test("503 DRAINING is a google.rpc.Status", async () => {
  await service.drain(0);
  for (const [protocol, send] of Object.entries(SEND)) {
    const [received, body] = await send(service.port, ["GET", "/v1/account", user(USER)]);
    expect(received, protocol).toBe(503);
    expectStatus(body, "DRAINING");
  }
});
