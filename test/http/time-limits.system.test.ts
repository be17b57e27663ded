import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LIMITS } from "../../src/http/limits.ts";
import type { RunningService } from "../../src/main.ts";
import { startTestService, USER } from "../support/service.ts";

let service: RunningService;
let origin: string;
beforeAll(async () => {
  service = await startTestService();
  origin = `http://127.0.0.1:${service.port}`;
});
afterAll(() => service.close());

describe.concurrent("limits of 30 s", () => {
  const timeoutMs = LIMITS.streamIdleMs + 30_000;

  test(
    "a stream without a message for 30 s ends",
    async () => {
      const session = connectHttp2(origin).on("error", () => {});
      const start = performance.now();
      const stream = session.request({
        ":method": "POST",
        ":path": "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        "content-type": "application/grpc",
      });
      stream.on("error", () => {}).resume();
      await once(stream, "close");
      expect(performance.now() - start).toBeGreaterThan(LIMITS.streamIdleMs - 1_000);
      session.destroy();
    },
    timeoutMs,
  );

  test(
    "a stream of responses that the client does not read ends",
    async () => {
      const session = connectHttp2(origin, { settings: { initialWindowSize: 0 } }).on("error", () => {});
      const stream = session.request({
        ":method": "POST",
        ":path": "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        "content-type": "application/grpc",
      });
      // file_containing_symbol, whose answers fill the buffers of the stream.
      const query = encodeEnvelope(0, Buffer.from("\x22\x13face.v1.FaceService", "latin1"));
      const ask = setInterval(() => stream.destroyed || stream.write(query), 100);
      stream.on("error", () => {});
      await once(stream, "close").catch(() => {});
      clearInterval(ask);
      session.destroy();
    },
    timeoutMs,
  );

  test(
    "a response that the client does not read ends",
    async () => {
      const session = connectHttp2(origin, { settings: { initialWindowSize: 0 } }).on("error", () => {});
      const stream = session.request({ ":path": "/docs" }).on("error", () => {});
      await once(stream, "response");
      await once(stream, "close");
      session.destroy();
    },
    timeoutMs,
  );

  test(
    "a unary body that arrives too slowly is rejected, over HTTP/1.1 and HTTP/2",
    async () => {
      const slow = await startTestService({ VISAGE_REQUEST_TIMEOUT_MS: "1000" });
      const socket = connect(slow.port, "127.0.0.1").on("error", () => {});
      socket.write(
        `POST /get_face_vec HTTP/1.1\r\nHost: a\r\nuser_id: ${USER}\r\nContent-Length: 9999\r\n\r\n`,
      );
      const session = connectHttp2(`http://127.0.0.1:${slow.port}`).on("error", () => {});
      const stream = session.request({ ":method": "POST", ":path": "/v1/images:analyze", user_id: USER });
      const sending = setInterval(() => {
        if (!socket.destroyed) socket.write("x");
        if (!stream.destroyed) stream.write("x");
      }, 200);
      stream.on("error", () => {});
      const [[headers], status, plain] = await Promise.all([
        once(stream, "response"),
        text(stream),
        text(socket),
      ]);
      expect(headers[":status"]).toBe(408);
      expect(JSON.parse(status)).toMatchObject({ code: 4, reason: "REQUEST_TOO_SLOW" });
      expect(plain).toMatch(/^HTTP\/1.1 408 .*"5004"/s);
      clearInterval(sending);
      session.destroy();
      await slow.close();
    },
    timeoutMs,
  );
});
