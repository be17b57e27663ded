import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  data,
  envelope,
  FLAG,
  FRAME,
  frame,
  headers,
  parseFrames,
} from "../../tools/fuzz/edge/http2-frames.ts";
import { HEALTH_CHECK, MULTIPART_TYPE, OPERATIONS, REFLECTION } from "../../tools/fuzz/edge/requests.ts";
import { findUnavailable } from "../../tools/fuzz/edge/valid-calls.ts";
import { createSeedImages } from "../../tools/fuzz/seed-images.ts";
import { USER } from "../../tools/support/service-process.ts";
import { type EdgeService, startEdgeService } from "../support/edge-service.ts";
import { admittedBytes, http1PostHead, http2Opening, http2PostHeaders } from "../support/raw-post.ts";
import { until } from "../support/until.ts";

const MIB = 1024 * 1024;
/** VISAGE_MAX_BODY_BYTES_IN_FLIGHT, and the process itself with bodies that are freed and not yet collected. */
const MAX_RESIDENT_MIB = 300 + 256;
/** The slowest response to a probe, under attack, that an orchestrator still accepts as alive. */
const MAX_PROBE_MS = 5_000;
const SETTINGS = { NODE_OPTIONS: "--max-old-space-size=256" };

let service: EdgeService;
let photo: Buffer;
beforeAll(async () => {
  photo = (await createSeedImages())[1]!;
});
beforeEach(async () => {
  service = await startEdgeService(SETTINGS);
});
afterEach(() => service.stop("SIGKILL"));

const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
});
let probes: Probes;
beforeEach(() => {
  probes = new Probes(service.port);
});
afterEach(() => probes.stop());

/** Probes the service in a loop and records the slowest response. */
class Probes {
  readonly #stopped = new AbortController();
  readonly #running: Promise<void>;
  answered = 0;
  failed: string | undefined;
  worstMs = 0;

  constructor(port: number) {
    this.#running = this.#run(port);
  }

  stop(): Promise<void> {
    this.#stopped.abort();
    return this.#running;
  }

  async #run(port: number): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const start = performance.now();
      try {
        const signal = AbortSignal.timeout(2 * MAX_PROBE_MS);
        const { status } = await fetch(`http://127.0.0.1:${port}/healthz`, { signal });
        if (status !== 200) this.failed = `status ${status}`;
        this.answered++;
      } catch (error) {
        if (!this.#stopped.signal.aborted) this.failed = String(error);
      }
      this.worstMs = Math.max(this.worstMs, performance.now() - start);
      await sleep(100);
    }
  }
}

/** Opens a connection that records what it receives. */
async function openConnection(): Promise<{
  socket: Socket;
  received: () => Buffer;
  isClosed: () => boolean;
}> {
  const chunks: Buffer[] = [];
  let closed = false;
  const socket = connect({ port: service.port, host: "127.0.0.1" });
  sockets.add(socket);
  socket.on("error", () => {}).on("data", (chunk) => chunks.push(chunk));
  socket.on("close", () => {
    closed = true;
  });
  await Promise.race([once(socket, "connect"), once(socket, "close")]).catch(() => {});
  return { socket, received: () => Buffer.concat(chunks), isClosed: () => closed };
}

/** Writes with backpressure. Returns early when the connection is closed or the peer has stopped reading. */
async function writeAll(socket: Socket, bytes: Buffer, stalledMs: number): Promise<void> {
  for (let at = 0; at < bytes.length && !socket.destroyed; at += MIB) {
    if (socket.write(bytes.subarray(at, at + MIB))) continue;
    const waiting = new AbortController();
    const changed = ["drain", "close"].map((event) => once(socket, event, waiting).catch(() => {}));
    const isStalled = await Promise.race([...changed, sleep(stalledMs, true, waiting).catch(() => false)]);
    waiting.abort();
    if (isStalled === true) return;
  }
}

async function expectSurvival(): Promise<void> {
  const resident = service.residentMib("VmHWM");
  expect(service.isAlive, "the process ended").toBe(true);
  expect(resident, "peak memory in MiB").toBeLessThanOrEqual(MAX_RESIDENT_MIB);
  expect(probes.failed).toBeUndefined();
  expect(probes.answered).toBeGreaterThan(0);
  expect(probes.worstMs, "the slowest probe").toBeLessThan(MAX_PROBE_MS);
  for (const socket of sockets) socket.destroy();
  expect(await service.waitUntilIdle(10_000), "requests in flight").toBe(0);
  expect(await findUnavailable(service.port, USER, photo)).toEqual([]);
  expect(service.residentMib("VmHWM")).toBeLessThanOrEqual(MAX_RESIDENT_MIB);
}

describe("with 256 MiB of heap the service survives in 300 MiB besides its request bodies", {
  timeout: 120_000,
}, () => {
  test("200 uploads of 27 MB that stop before their last byte", async () => {
    const intro = Buffer.from('--X\r\nContent-Disposition: form-data; name="img"; filename="a.jpg"\r\n\r\n');
    const outro = Buffer.from("\r\n--X--\r\n");
    const body = Buffer.concat([intro, Buffer.alloc(27_000_000 - intro.length - outro.length, 0x55), outro]);
    const head = http1PostHead({ path: "/get_face_vec", type: MULTIPART_TYPE }, body.length);
    const answers = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const { socket, received } = await openConnection();
        socket.write(head);
        await writeAll(socket, body.subarray(0, -1), 8_000);
        return received;
      }),
    );
    await sleep(1_000);
    const statuses = new Set(
      answers.map((received) => /^HTTP\/1\.1 (\d{3})/.exec(received().toString("latin1"))?.[1] ?? "none"),
    );
    // Requests whose body is in memory or waits for room have no response yet.
    for (const status of statuses) expect(["none", "408", "413", "429", "503"]).toContain(status);
    await expectSurvival();
  });

  test("messages that become far larger when they are decompressed or parsed", async () => {
    const zeros = gzipSync(Buffer.alloc(300 * MIB));
    // An unknown field, repeated: a parser may keep an object for each of these few bytes.
    const unknownFields = gzipSync(Buffer.alloc(100 * MIB, Buffer.from([0xf8, 0x7f, 0x01])));
    const unknownPlain = Buffer.alloc(4 * MIB, Buffer.from([0xf8, 0x7f, 0x01]));
    const emptyBoxes = Buffer.alloc(20 * MIB, Buffer.from([0x12, 0x00]));
    const bodies = [
      envelope(zeros, 1),
      envelope(unknownFields, 1),
      envelope(unknownPlain),
      envelope(emptyBoxes),
    ];
    const paths = [HEALTH_CHECK, REFLECTION, ...OPERATIONS.map(({ rpcPath }) => rpcPath)];
    const calls = bodies.flatMap((body) => paths.map((path) => ({ body, path })));
    await Promise.all(
      [...calls, ...calls].map(async ({ body, path }) => {
        const { socket, received } = await openConnection();
        const list = http2PostHeaders({ path, type: "application/grpc" }, [["grpc-encoding", "gzip"]]);
        socket.write(Buffer.concat([http2Opening(), headers(1, list)]));
        await sendBody(socket, received, body);
        await until(
          () => hasEnded(received()) || socket.destroyed,
          (ended) => ended,
          5_000,
        );
      }),
    );
    await expectSurvival();
  });

  test("1,000 HTTP/2 streams that do not end", async () => {
    const part = envelope(Buffer.alloc(100_000), 0, 10_000_000);
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        const { socket, received } = await openConnection();
        socket.write(http2Opening());
        for (let i = 0; i < 100; i++) {
          const operation = OPERATIONS[i % OPERATIONS.length]!;
          const isRpc = i % 3 > 0;
          const post = isRpc
            ? { path: operation.rpcPath, type: "application/grpc" }
            : { path: operation.path, type: MULTIPART_TYPE };
          socket.write(headers(2 * i + 1, http2PostHeaders(post)));
        }
        await sendOnAll(socket, received, part);
      }),
    );
    await sleep(1_000);
    await expectSurvival();
  });

  test.each([REFLECTION, HEALTH_CHECK, "/no/such/path"])(
    "16,000 streams without a key of %s",
    async (path) => {
      const clients = await Promise.all(Array.from({ length: 64 }, openConnection));
      const list = http2PostHeaders({ path, type: "application/grpc", user: "" });
      const streams = Array.from({ length: 250 }, (_, i) => 2 * i + 1);
      const frames = streams.flatMap((id) => [headers(id, list), data(id, envelope(Buffer.alloc(0)), false)]);
      for (const { socket } of clients) socket.write(Buffer.concat([http2Opening(), ...frames]));
      // The service answers a ping when it has read everything before it.
      for (const { socket } of clients) socket.write(frame(FRAME.ping, 0, 0, Buffer.alloc(8)));
      const answered = () => clients.filter(({ received }) => hasPong(received())).length;
      expect(await until(answered, (count) => count === clients.length, 60_000)).toBe(clients.length);
      await expectSurvival();
    },
  );
});

function hasPong(received: Buffer): boolean {
  return parseFrames(received).some(({ type, flags }) => type === FRAME.ping && flags === FLAG.ack);
}

/** Whether a stream has ended: by END_STREAM, RST_STREAM or GOAWAY. */
function hasEnded(received: Buffer): boolean {
  return parseFrames(received).some(
    ({ type, flags }) =>
      type === FRAME.rstStream ||
      type === FRAME.goAway ||
      ((type === FRAME.headers || type === FRAME.data) && (flags & 1) === 1),
  );
}

/** Sends a body on stream 1 as far as flow control admits. */
async function sendBody(socket: Socket, received: () => Buffer, body: Buffer): Promise<void> {
  for (let sent = 0; sent < body.length && !socket.destroyed && !hasEnded(received()); ) {
    const admitted = admittedBytes(received());
    const window = Math.min(admitted.connection, admitted.onStream(1)) - sent;
    if (window <= 0) {
      const before = received().length;
      const isOpened = await until(
        () => received().length > before,
        (changed) => changed,
        3_000,
      );
      if (!isOpened) return;
      continue;
    }
    const part = body.subarray(sent, sent + window);
    sent += part.length;
    socket.write(data(1, part, sent === body.length));
    await sleep(0);
  }
}

/** Sends the same beginning of a body on streams 1 to 199, as far as flow control admits. */
async function sendOnAll(socket: Socket, received: () => Buffer, part: Buffer): Promise<void> {
  const sent = new Map(Array.from({ length: 100 }, (_, i) => [2 * i + 1, 0]));
  const deadline = performance.now() + 10_000;
  for (let total = 0; performance.now() < deadline && !socket.destroyed; ) {
    const admitted = admittedBytes(received());
    let progress = 0;
    for (const [stream, already] of sent) {
      const window = Math.min(admitted.connection - total, admitted.onStream(stream) - already, 10_000);
      const piece = part.subarray(already, already + Math.max(0, window));
      if (piece.length === 0) continue;
      socket.write(data(stream, piece, false));
      sent.set(stream, already + piece.length);
      total += piece.length;
      progress += piece.length;
    }
    if ([...sent.values()].every((count) => count === part.length)) return;
    if (progress === 0) await sleep(100);
  }
}
