import { once } from "node:events";
import { connect, constants, type IncomingHttpHeaders } from "node:http2";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { openSocket, readResponse } from "../support/raw-http.ts";
import { startTestService, USER } from "../support/service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** Sends the head of an HTTP/1.1 request without a body and reads the response. */
async function sendHead(...lines: readonly string[]) {
  const socket = await openSocket(service.port);
  onTestFinished(() => void socket.destroy());
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  return readResponse(socket);
}

const HEALTH = "/grpc.health.v1.Health/Check";

describe("a request without a valid host is 400", () => {
  test.each([
    ["an open bracket", `POST ${HEALTH} HTTP/1.1`, "Host: ["],
    ["a space", `POST ${HEALTH} HTTP/1.1`, "Host: a b"],
    ["a slash", "POST /get_face_vec HTTP/1.1", "Host: a/b"],
    ["a user", "GET /healthz HTTP/1.1", "Host: user@a"],
    ["no host", `POST ${HEALTH} HTTP/1.1`, "X: 1"],
    ["no host in HTTP/1.0", `POST ${HEALTH} HTTP/1.0`, "X: 1"],
    ["an empty host", "GET / HTTP/1.1", "Host:"],
    ["two hosts", "GET /healthz HTTP/1.1", "Host: a\r\nHost: b"],
    ["two hosts that differ in their ports", "GET /healthz HTTP/1.1", "Host: a\r\nHost: a:80"],
  ])("with %s", async (_, line, host) => {
    const { status, body } = await sendHead(line, host, "Connection: close");
    expect(status).toBe(400);
    expect(body).toMatch(/2001|invalid_argument/);
  });

  // nghttp2 itself resets streams with other malformed authorities.
  test.each(["[", "@"])("with the HTTP/2 authority %s", async (authority) => {
    const session = connect(`http://127.0.0.1:${service.port}`);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":path": HEALTH, ":method": "POST", ":authority": authority });
    const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
    expect(headers[":status"]).toBe(400);
  });
});

test.each([
  ["the same", "a.test", 200],
  ["another", "b.test", 400],
])("a Host header with %s host as the HTTP/2 authority (%s) is %i", async (_, host, status) => {
  const session = connect(`http://127.0.0.1:${service.port}`);
  onTestFinished(() => session.destroy());
  const stream = session.request({ ":path": "/healthz", ":authority": "A.test", host });
  const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
  expect(headers[":status"]).toBe(status);
});

describe("the router", () => {
  test.each(["/healthz?x", "/readyz?verbose=1", "http://any.test/healthz"])("serves %s", async (target) => {
    expect((await sendHead(`GET ${target} HTTP/1.1`, "Host: a")).status).toBe(200);
  });

  test.each(["/x/get_face_vec", "/get_face_vec/", "/nowhere", "//healthz", "/metrics", "*"])(
    "answers 404 for %s, with or without a user",
    async (target) => {
      for (const user of ["X: 1", `user_id: ${USER}`]) {
        const { status, body } = await sendHead(
          `POST ${target} HTTP/1.1`,
          "Host: a",
          user,
          "Content-Length: 0",
        );
        expect(status).toBe(404);
        expect(JSON.parse(body)).toMatchObject({ code: "4040", data: { reason: "NO_SUCH_PATH" } });
      }
    },
  );

  test.each([
    ["GET /get_face_vec", "POST, OPTIONS"],
    ["POST /healthz", "GET, HEAD, OPTIONS"],
    ["PUT /", "GET, HEAD, OPTIONS"],
  ])("answers 405 for %s, with the allowed methods", async (line, allow) => {
    const { status, headers } = await sendHead(`${line} HTTP/1.1`, "Host: a", "Content-Length: 0");
    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow });
  });

  test("answers UNIMPLEMENTED for an unknown gRPC method", async () => {
    const session = connect(`http://127.0.0.1:${service.port}`);
    onTestFinished(() => session.destroy());
    const stream = session.request({
      ":path": "/face.v1.FaceService/Nothing",
      ":method": "POST",
      "content-type": "application/grpc",
    });
    const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
    expect(headers).toMatchObject({ ":status": 200, "grpc-status": "12" });
  });
});

test("a stream that is reset together with its head leaves no request in flight", async () => {
  const session = connect(`http://127.0.0.1:${service.port}`).on("error", () => {});
  onTestFinished(() => session.destroy());
  for (const headers of [{}, { user_id: "unknown-user" }, { user_id: USER }, { expect: "100-continue" }]) {
    const stream = session.request({ ":path": "/get_face_vec", ":method": "POST", ...headers });
    stream.on("error", () => {}).close(constants.NGHTTP2_CANCEL);
    await once(stream, "close");
  }
  // The service has read all resets when it answers this request on the same connection.
  await once(session.request({ ":path": "/healthz" }).resume(), "close");
  await expect.poll(() => service.status().requestsInFlight).toBe(0);
});

test("a draining service closes its HTTP/1.1 connections with the response", async () => {
  const draining = await startTestService();
  onTestFinished(() => draining.close());
  await draining.drain(0);
  const socket = await openSocket(draining.port);
  onTestFinished(() => void socket.destroy());
  socket.write(`POST /get_face_vec HTTP/1.1\r\nHost: a\r\nuser_id: ${USER}\r\nContent-Length: 0\r\n\r\n`);
  expect(await readResponse(socket)).toMatchObject({ status: 503, headers: { connection: "close" } });
});
