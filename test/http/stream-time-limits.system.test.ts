import { once } from "node:events";
import { request } from "node:http";
import { type ClientHttp2Stream, connect } from "node:http2";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { LIMITS } from "../../src/http/limits.ts";
import type { RunningService } from "../../src/main.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { type ImageStream, OPEN_STREAM } from "../support/image-streams.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

const IMAGE = await sharp(photograph(3)).resize({ width: 480 }).jpeg().toBuffer();
const STREAM_OPERATION = '"visage.v1.analyze_images"';
const TIMEOUT_MS = 4 * LIMITS.streamIdleMs;

let service: RunningService;
const lines: string[] = [];
beforeAll(async () => {
  const log = createLog("info", {
    write: (line) => void lines.push(line),
    dropped: 0,
    flush: async () => {},
  });
  service = await startTestService({}, log);
});
afterAll(async () => {
  await vi.waitFor(() => expect(service.status()).toMatchObject({ requestsInFlight: 0, bodyBytes: 0 }), {
    timeout: 20_000,
  });
  await service.close();
});

/** The outcome of a stream in the log. */
function outcomeOf(requestId: string): string | undefined {
  const line = lines.find((text) => text.includes(`"${requestId}"`) && text.includes(STREAM_OPERATION));
  return line && JSON.parse(line).outcome;
}

/** Sends as much as the service takes, with large answers. Returns a function that stops it. */
function sendWithoutEnd(stream: ImageStream): () => void {
  let isStopped = false;
  const stop = () => {
    isStopped = true;
  };
  void stream.ended.then(stop);
  const send = () => {
    while (!isStopped && stream.send("k".repeat(1_024), Buffer.alloc(0)));
    if (!isStopped) stream.onDrain(send);
  };
  send();
  return stop;
}

const PROTOCOLS = Object.keys(OPEN_STREAM);

/** Runs an attack over all protocols at the same time. */
async function overEach(
  protocols: readonly string[],
  name: string,
  attack: (stream: ImageStream, requestId: string, protocol: string) => Promise<void>,
): Promise<void> {
  await Promise.all(
    protocols.map(async (protocol, i) => {
      const headers = { "x-request-id": `${name}-${i}` };
      const stream = OPEN_STREAM[protocol]!({ port: service.port, user: USER, headers });
      await attack(stream, headers["x-request-id"], protocol);
      stream.close();
    }),
  );
}

describe.concurrent("limits of 30 s", () => {
  test(
    "an image that finds no room in the queue fails alone",
    async () => {
      const full = await startTestService(
        {
          VISAGE_MAX_QUEUE_WAIT_MS: "1",
          VISAGE_REQUEST_TIMEOUT_MS: String(2 * LIMITS.streamImageWaitMs),
        },
        undefined,
        { stuckAfterMs: TIMEOUT_MS },
      );
      const [worker] = full.pool.pids;
      process.kill(worker!, "SIGSTOP");
      try {
        const stream = OPEN_STREAM.gRPC!({ port: full.port, user: USER });
        stream.send("runs", IMAGE);
        await expect.poll(() => full.pool.busy).toBe(1);
        // A job about as old as most jobs get is expected to end at once, so that another one would be accepted.
        await delay(2_000);
        const start = performance.now();
        stream.send("waits", IMAGE);
        await vi.waitFor(() => expect(stream.answers).toEqual([["waits", "OVERLOADED"]]), {
          timeout: LIMITS.streamImageWaitMs + 5_000,
        });
        // Less the last delay, which would have exceeded the limit.
        expect(performance.now() - start).toBeGreaterThan(LIMITS.streamImageWaitMs / 2);
        process.kill(worker!, "SIGCONT");
        stream.end();
        expect(await stream.ended).toBe("ok");
        expect(stream.answers).toContainEqual(["runs", 3]);
      } finally {
        process.kill(worker!, "SIGCONT");
        await full.close();
      }
    },
    TIMEOUT_MS,
  );

  test(
    "a client that does not read is disconnected",
    () =>
      overEach(PROTOCOLS, "unread", async (stream, requestId, protocol) => {
        stream.pause();
        sendWithoutEnd(stream);
        const hasEnded = () => expect(outcomeOf(requestId), protocol).toBe("REQUEST_TOO_SLOW");
        await vi.waitFor(hasEnded, { timeout: TIMEOUT_MS - 5_000, interval: 200 });
      }),
    TIMEOUT_MS,
  );

  test(
    "a client of JSON lines that reads again later reads the error",
    () =>
      overEach(["JSON lines over HTTP/1.1"], "late", async (stream) => {
        stream.pause();
        const stop = sendWithoutEnd(stream);
        await delay(LIMITS.streamIdleMs + 8_000);
        // A client that still sends may be disconnected before it has read the error.
        stop();
        stream.resume();
        expect(await stream.ended).toBe("REQUEST_TOO_SLOW");
      }),
    TIMEOUT_MS,
  );

  test(
    "a client that sends nothing gets an error",
    () =>
      overEach(PROTOCOLS, "idle", async (stream, _, protocol) => {
        stream.send("0", IMAGE);
        expect(await stream.ended, protocol).toBe("REQUEST_TOO_SLOW");
        expect(stream.answers).toEqual([["0", 3]]);
      }),
    TIMEOUT_MS,
  );

  test(
    "blank lines are no messages",
    () =>
      overEach(
        PROTOCOLS.filter((protocol) => protocol.startsWith("JSON lines")),
        "blank",
        async (stream, _, protocol) => {
          const start = performance.now();
          const blank = setInterval(() => stream.write(" \r\n"), 500);
          expect(await stream.ended, protocol).toBe("REQUEST_TOO_SLOW");
          clearInterval(blank);
          expect(performance.now() - start).toBeLessThan(2 * LIMITS.streamIdleMs);
        },
      ),
    TIMEOUT_MS,
  );

  test.each(["HTTP/1.1", "HTTP/2"])(
    "blank lines are no faces of an import over %s",
    async (version) => {
      const path = "/v1/galleries/blank:import";
      const headers = { "x-api-key": USER, "content-type": "application/x-ndjson" };
      const session = connect(`http://127.0.0.1:${service.port}`).on("error", () => {});
      const stream =
        version === "HTTP/2"
          ? session.request({ ":method": "POST", ":path": path, ...headers })
          : request({ port: service.port, host: "127.0.0.1", method: "POST", path, headers });
      const blank = setInterval(() => stream.writable && stream.write("\n"), 500);
      const [response] = await once(
        stream.on("error", () => {}),
        "response",
      );
      clearInterval(blank);
      const body = await text(version === "HTTP/2" ? (stream as ClientHttp2Stream) : (response as Readable));
      expect(JSON.parse(body)).toMatchObject({ reason: "REQUEST_TOO_SLOW" });
      stream.destroy();
      session.destroy();
    },
    TIMEOUT_MS,
  );

  test(
    "a message that does not end ends the stream",
    () =>
      overEach(PROTOCOLS, "drip", async (stream, _, protocol) => {
        const start = performance.now();
        stream.write(protocol === "gRPC" ? Buffer.of(0, 0, 0, 1, 0) : "{");
        const drip = setInterval(() => stream.write(" "), 500);
        expect(await stream.ended, protocol).toBe("REQUEST_TOO_SLOW");
        clearInterval(drip);
        // If each byte extended the limit, the stream would not end.
        expect(performance.now() - start).toBeLessThan(3 * LIMITS.streamIdleMs);
      }),
    TIMEOUT_MS,
  );
});
