import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
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

/** Sends a byte of a message every half second until the call has ended. */
async function drip(send: (byte: Buffer) => void, ended: Promise<unknown>): Promise<void> {
  const sending = setInterval(() => send(Buffer.from(" ")), 500);
  await ended.finally(() => clearInterval(sending));
}

/** All that arrives: a byte under way while the service closes resets the connection after its response. */
function untilClosed(socket: Socket): Promise<string> {
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
  });
  return new Promise((resolve) => socket.once("close", () => resolve(received)));
}

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

  /** The calls of open services: path, content type and the beginning of a message of 1,000 bytes. */
  const GRPC = Buffer.of(0, 0, 0, 3, 0xe8, 0x0a);
  const OPEN_CALLS: readonly (readonly [path: string, type: string, start: Buffer])[] = [
    ["/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "application/grpc", GRPC],
    ["/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "application/connect+proto", GRPC],
    ["/grpc.health.v1.Health/Check", "application/grpc", GRPC],
    ["/grpc.health.v1.Health/Check", "application/grpc-web", GRPC],
    ["/grpc.health.v1.Health/Check", "application/json", Buffer.from("{")],
    ["/grpc.health.v1.Health/Watch", "application/grpc", GRPC],
    ["/grpc.health.v1.Health/Watch", "application/connect+json", GRPC],
  ];
  /** A message may begin at the end of one limit, and has the same time again. */
  const messageMs = 2 * LIMITS.streamIdleMs;

  test(
    "a message to an open service that arrives byte by byte ends the call",
    async () => {
      const session = connectHttp2(origin).on("error", () => {});
      await Promise.all(
        OPEN_CALLS.map(async ([path, type, start]) => {
          const stream = session.request({ ":method": "POST", ":path": path, "content-type": type });
          stream.on("error", () => {}).resume();
          stream.write(start);
          await drip((byte) => stream.destroyed || stream.write(byte), once(stream, "close"));
        }),
      );
      session.destroy();
    },
    messageMs + 20_000,
  );

  test(
    "a message to an open service over HTTP/1.1 that arrives byte by byte ends the call",
    async () => {
      const calls = OPEN_CALLS.filter(([, type]) => /json$|grpc-web/.test(type));
      await Promise.all(
        calls.map(async ([path, type, start]) => {
          const socket = connect(service.port, "127.0.0.1").on("error", () => {});
          const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: 1005\r\n\r\n`;
          socket.write(Buffer.concat([Buffer.from(head), start]));
          const received = untilClosed(socket);
          await drip((byte) => socket.destroyed || socket.write(byte), received);
          expect(await received).toMatch(/408|deadline_exceeded|grpc-status: 4/);
        }),
      );
    },
    messageMs + 20_000,
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
        untilClosed(socket),
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
