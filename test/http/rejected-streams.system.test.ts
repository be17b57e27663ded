import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { LIMITS } from "../../src/http/limits.ts";
import { data, ERROR_CODE, FLAG, FRAME, headers, parseFrames } from "../../tools/fuzz/edge/http2-frames.ts";
import { type EdgeService, startEdgeService } from "../support/edge-service.ts";
import { http2Opening, http2PostHeaders } from "../support/raw-post.ts";
import { until } from "../support/until.ts";

const CALLS = 4 * LIMITS.streamsPerConnection;
const FRAME_HEADER_BYTES = 9;
/** Its deadline passes before its body is sent, for all streams at about the same time. */
const CALL = http2PostHeaders({ path: "/face.v1.FaceService/GetFaceVec", type: "application/grpc" }, [
  ["grpc-timeout", "500m"],
]);

// In a process of its own: in this one, the client could not open a stream before the service resets the last one.
let service: EdgeService;
beforeAll(async () => {
  service = await startEdgeService();
});
afterAll(() => service.stop("SIGKILL"));

/**
 * A client that opens all streams it may, and the next one as soon as a response has ended. As grpc-go does, it never
 * ends a stream whose response has arrived before.
 */
class EagerClient {
  readonly rejected = new Set<number>();
  readonly resets = new Map<number, number>();
  /** Error codes. */
  readonly goAways: number[] = [];
  readonly open: number[] = [];
  readonly #socket: Socket;
  #opened = 0;
  #received = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.#socket = socket.on("data", (bytes) => this.#read(bytes));
    socket.write(http2Opening());
    for (let i = 0; i < LIMITS.streamsPerConnection; i++) this.#openStream();
  }

  get opened(): number {
    return this.#opened;
  }

  /** Ends the request that has waited longest for its response. */
  endOldest(): void {
    const stream = this.open.shift();
    if (stream !== undefined) this.#socket.write(data(stream, Buffer.alloc(0)));
  }

  #openStream(): void {
    if (this.#opened === CALLS) return;
    const stream = 2 * this.#opened++ + 1;
    this.open.push(stream);
    this.#socket.write(headers(stream, CALL));
  }

  #read(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    for (const { type, flags, stream, payload } of parseFrames(this.#received)) {
      this.#received = this.#received.subarray(FRAME_HEADER_BYTES + payload.length);
      if (type === FRAME.goAway) this.goAways.push(payload.readUInt32BE(4));
      else if (type === FRAME.rstStream) this.resets.set(stream, payload.readUInt32BE(0));
      else if (type === FRAME.headers && flags & FLAG.endStream) {
        this.rejected.add(stream);
        const index = this.open.indexOf(stream);
        if (index >= 0) this.open.splice(index, 1);
        this.#openStream();
      }
    }
  }
}

async function openClient(): Promise<EagerClient> {
  const socket = connect(service.port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return new EagerClient(socket);
}

test("a client whose calls are rejected before it has sent them keeps its connection", async () => {
  const client = await openClient();
  // As long as the bodies of other calls take on a slow machine.
  await sleep(3_000);
  const timer = setInterval(() => client.endOldest(), 1);
  onTestFinished(() => clearInterval(timer));
  await until(() => client.goAways.length > 0 || client.rejected.size === CALLS, Boolean, 40_000);
  expect(client.goAways).toEqual([]);
  expect(client.rejected.size).toBe(CALLS);
  expect([...client.resets.values()].filter((code) => code !== ERROR_CODE.noError)).toEqual([]);
});

test("a client that never sends its rejected calls may repeat them on the same connection", async () => {
  const client = await openClient();
  const areReset = () => client.resets.size === client.opened;
  await until(() => client.goAways.length > 0 || areReset(), Boolean, LIMITS.rejectedBodyMs + 30_000);
  expect(client.goAways).toEqual([]);
  expect(areReset()).toBe(true);
  expect(new Set(client.resets.values())).toContain(ERROR_CODE.refusedStream);
  for (const [stream, code] of client.resets)
    expect(code).toBe(client.rejected.has(stream) ? ERROR_CODE.noError : ERROR_CODE.refusedStream);
});
