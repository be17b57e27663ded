import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  data,
  envelope,
  FRAME,
  type HeaderList,
  headers,
  PREFACE,
  parseFrames,
  settings,
  settingsAck,
} from "../../tools/fuzz/edge/http2-frames.ts";
import { HEALTH_CHECK, MULTIPART_TYPE, OPERATIONS, REFLECTION } from "../../tools/fuzz/edge/requests.ts";
import { findUnavailable } from "../../tools/fuzz/edge/valid-calls.ts";
import { createSeedImages } from "../../tools/fuzz/seed-images.ts";
import { USER } from "../../tools/support/service-process.ts";
import { type EdgeService, startEdgeService } from "../support/edge-service.ts";
import { until } from "../support/until.ts";

const MIB = 1024 * 1024;
const MOST_RESIDENT_MIB = 512;
/** The worst answer time of a probe under attack that still lets an orchestrator see a live process. */
const MOST_PROBE_MS = 5_000;
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

/** Asks for readiness again and again and keeps the worst answer. */
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
        const signal = AbortSignal.timeout(2 * MOST_PROBE_MS);
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

/** A connection that keeps what it receives. */
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

/** Writes as fast as the peer reads; ends early when the connection is closed or nothing is read any more. */
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
  expect(resident, "the most memory, in MiB").toBeLessThanOrEqual(MOST_RESIDENT_MIB);
  expect(probes.failed).toBeUndefined();
  expect(probes.answered).toBeGreaterThan(0);
  expect(probes.worstMs, "the slowest probe").toBeLessThan(MOST_PROBE_MS);
  for (const socket of sockets) socket.destroy();
  const open = await until(
    () => service.requestsInFlight(),
    (count) => count === 0,
    10_000,
  );
  expect(open, "requests left open").toBe(0);
  expect(await findUnavailable(service.port, USER, photo)).toEqual([]);
  expect(service.residentMib("VmHWM")).toBeLessThanOrEqual(MOST_RESIDENT_MIB);
}

describe("with 256 MiB of heap the service survives in 512 MiB", { timeout: 120_000 }, () => {
  test("200 uploads of 27 MB that stop before their last byte", async () => {
    const intro = Buffer.from('--X\r\nContent-Disposition: form-data; name="img"; filename="a.jpg"\r\n\r\n');
    const outro = Buffer.from("\r\n--X--\r\n");
    const body = Buffer.concat([intro, Buffer.alloc(27_000_000 - intro.length - outro.length, 0x55), outro]);
    const head = Buffer.from(
      [
        "POST /get_face_vec HTTP/1.1",
        "Host: a",
        `user_id: ${USER}`,
        `Content-Type: ${MULTIPART_TYPE}`,
        `Content-Length: ${body.length}`,
        "",
        "",
      ].join("\r\n"),
    );
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
    // Those whose body is in memory or waits for room have no answer yet.
    for (const status of statuses) expect(["none", "408", "413", "429", "503"]).toContain(status);
    await expectSurvival();
  });

  test("messages that are far larger once they are decompressed or parsed", async () => {
    const zeros = gzipSync(Buffer.alloc(300 * MIB));
    // A field that no message has, repeated: two bytes each, which a parser may keep as objects.
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
        const list: HeaderList = [
          [":method", "POST"],
          [":scheme", "http"],
          [":path", path],
          [":authority", "a"],
          ["content-type", "application/grpc"],
          ["grpc-encoding", "gzip"],
          ["te", "trailers"],
          ["user_id", USER],
        ];
        socket.write(Buffer.concat([PREFACE, settings(), settingsAck(), headers(1, list)]));
        await sendWithin(socket, received, body);
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
    const list = (path: string, type: string): HeaderList => [
      [":method", "POST"],
      [":scheme", "http"],
      [":path", path],
      [":authority", "a"],
      ["content-type", type],
      ["te", "trailers"],
      ["user_id", USER],
    ];
    const part = envelope(Buffer.alloc(100_000), 0, 10_000_000);
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        const { socket, received } = await openConnection();
        socket.write(Buffer.concat([PREFACE, settings(), settingsAck()]));
        for (let i = 0; i < 100; i++) {
          const operation = OPERATIONS[i % OPERATIONS.length]!;
          const isRpc = i % 3 > 0;
          const head = isRpc
            ? list(operation.rpcPath, "application/grpc")
            : list(operation.path, MULTIPART_TYPE);
          socket.write(headers(2 * i + 1, head));
        }
        await sendOnAll(socket, received, part);
      }),
    );
    await sleep(1_000);
    await expectSurvival();
  });
});

/** Whether the stream has an end: END_STREAM, RST_STREAM or GOAWAY. */
function hasEnded(received: Buffer): boolean {
  return parseFrames(received).some(
    ({ type, flags }) =>
      type === FRAME.rstStream ||
      type === FRAME.goAway ||
      ((type === FRAME.headers || type === FRAME.data) && (flags & 1) === 1),
  );
}

/** What a service has admitted on a connection and on each stream beyond the initial windows. */
function windowUpdates(received: Buffer): (stream: number) => number {
  const admitted = new Map<number, number>();
  for (const { type, stream, payload } of parseFrames(received))
    if (type === FRAME.windowUpdate)
      admitted.set(stream, (admitted.get(stream) ?? 0) + payload.readUInt32BE(0));
  return (stream) => admitted.get(stream) ?? 0;
}

/** Sends a body on stream 1 as far as flow control admits. */
async function sendWithin(socket: Socket, received: () => Buffer, body: Buffer): Promise<void> {
  for (let sent = 0; sent < body.length && !socket.destroyed && !hasEnded(received()); ) {
    const updates = windowUpdates(received());
    const window = 0xffff + Math.min(updates(0), updates(1)) - sent;
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
    const updates = windowUpdates(received());
    let progress = 0;
    for (const [stream, already] of sent) {
      const window = Math.min(0xffff + updates(0) - total, 0xffff + updates(stream) - already, 10_000);
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
