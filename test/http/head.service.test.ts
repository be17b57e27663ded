import { once } from "node:events";
import { connect, constants, type IncomingHttpHeaders } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { openSocket, readAnswer } from "../support/raw-http.ts";
import { startTestService, USER } from "../support/service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** The answer to a head of HTTP/1.1 without a body. */
async function answerTo(...lines: readonly string[]) {
  const socket = await openSocket(service.port);
  onTestFinished(() => void socket.destroy());
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  return readAnswer(socket);
}

const HEALTH = "/grpc.health.v1.Health/Check";

describe("a request that names no valid host is 400", () => {
  test.each([
    ["an open bracket", `POST ${HEALTH} HTTP/1.1`, "Host: ["],
    ["a space", `POST ${HEALTH} HTTP/1.1`, "Host: a b"],
    ["a slash", "POST /get_face_vec HTTP/1.1", "Host: a/b"],
    ["a user", "GET /healthz HTTP/1.1", "Host: user@a"],
    ["no host", `POST ${HEALTH} HTTP/1.1`, "X: 1"],
    ["no host in HTTP/1.0", `POST ${HEALTH} HTTP/1.0`, "X: 1"],
    ["an empty host", "GET / HTTP/1.1", "Host:"],
  ])("by %s", async (_, line, host) => {
    const { status, body } = await answerTo(line, host, "Connection: close");
    expect(status).toBe(400);
    expect(body).toMatch(/2001|invalid_argument/);
  });

  // What is malformed beyond this, nghttp2 resets by itself.
  test.each(["[", "@"])("by the authority %s of HTTP/2", async (authority) => {
    const session = connect(`http://127.0.0.1:${service.port}`);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":path": HEALTH, ":method": "POST", ":authority": authority });
    const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
    expect(headers[":status"]).toBe(400);
  });
});

describe("the router", () => {
  test.each(["/healthz?x", "/readyz?verbose=1", "http://any.test/healthz"])("serves %s", async (target) => {
    expect((await answerTo(`GET ${target} HTTP/1.1`, "Host: a")).status).toBe(200);
  });

  test.each(["/x/get_face_vec", "/get_face_vec/", "/nowhere", "//healthz", "/metrics", "*"])(
    "answers 404 for %s, with or without a user",
    async (target) => {
      for (const user of ["X: 1", `user_id: ${USER}`]) {
        const { status, body } = await answerTo(
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
  ])("answers 405 for %s and says what is allowed", async (line, allow) => {
    const { status, headers } = await answerTo(`${line} HTTP/1.1`, "Host: a", "Content-Length: 0");
    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow });
  });

  test("answers UNIMPLEMENTED for an unknown method of gRPC", async () => {
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

test("a stream that is reset together with its head leaves nothing behind", async () => {
  const session = connect(`http://127.0.0.1:${service.port}`).on("error", () => {});
  onTestFinished(() => session.destroy());
  for (const headers of [{}, { user_id: "nobody-we-know" }, { user_id: USER }, { expect: "100-continue" }]) {
    const stream = session.request({ ":path": "/get_face_vec", ":method": "POST", ...headers });
    stream.on("error", () => {}).close(constants.NGHTTP2_CANCEL);
    await once(stream, "close");
  }
  await sleep(50);
  expect(service.status().requestsInFlight).toBe(0);
});

test("a draining service closes its HTTP/1.1 connections with the answer", async () => {
  const draining = await startTestService();
  onTestFinished(() => draining.close());
  await draining.drain(0);
  const socket = await openSocket(draining.port);
  onTestFinished(() => void socket.destroy());
  socket.write(`POST /get_face_vec HTTP/1.1\r\nHost: a\r\nuser_id: ${USER}\r\nContent-Length: 0\r\n\r\n`);
  expect(await readAnswer(socket)).toMatchObject({ status: 503, headers: { connection: "close" } });
});
