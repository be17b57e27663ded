import { setTimeout as delay } from "node:timers/promises";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { RunningService } from "../../src/main.ts";
import {
  grpcMessage,
  type ImageStream,
  imageLine,
  imageMessage,
  OPEN_STREAM,
} from "../support/image-streams.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

const IMAGE = await sharp(photograph(3)).resize({ width: 480 }).jpeg().toBuffer();

let service: RunningService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** The ways in which a client leaves. */
const WAYS = ["cancel", "close", "reset", "halfClose"] as const;

/** Stops the worker, so that its job takes as long as the test needs. */
async function withStoppedWorker(work: () => Promise<void>): Promise<void> {
  const [worker] = service.pool.pids;
  process.kill(worker!, "SIGSTOP");
  try {
    await work();
  } finally {
    process.kill(worker!, "SIGCONT");
  }
}

/** Long, because other processes may slow the service down. */
const REACH = { timeout: 20_000 };

const untilReading = () => vi.waitFor(() => expect(service.status().requestsInFlight).toBe(1), REACH);

/** A message to a stream, with its frame. */
function messageOf(protocol: string): Buffer {
  return Buffer.from(protocol === "gRPC" ? grpcMessage(imageMessage("k", IMAGE)) : imageLine("k", IMAGE));
}

/** Each brings a stream to a point and lets its client leave there. */
const POINTS: Readonly<
  Record<string, (stream: ImageStream, leave: () => void, protocol: string) => Promise<void>>
> = {
  "before the first message": async (_, leave) => {
    await untilReading();
    leave();
  },
  "in the frame of a message": async (stream, leave, protocol) => {
    stream.write(messageOf(protocol).subarray(0, 3));
    await vi.waitFor(() => expect(service.status().bodyBytes).toBe(3), REACH);
    leave();
  },
  "in a message": async (stream, leave, protocol) => {
    const message = messageOf(protocol);
    stream.write(message.subarray(0, message.length - 10));
    await vi.waitFor(() => expect(service.status().bodyBytes).toBeGreaterThan(1_000), REACH);
    leave();
  },
  "while its images are in the worker and in the queue": (stream, leave) =>
    withStoppedWorker(async () => {
      for (let i = 0; i < 4; i++) stream.send(`${i}`, IMAGE);
      await vi.waitFor(() => expect([service.pool.busy, service.pool.waiting]).toEqual([1, 1]), REACH);
      leave();
    }),
  "between two images": async (stream, leave) => {
    stream.send("0", IMAGE);
    await vi.waitFor(() => expect(stream.answers).toHaveLength(1), REACH);
    leave();
  },
  "while it does not read": async (stream, leave) => {
    stream.pause();
    const key = "k".repeat(1_024);
    let sent = 0;
    const send = () => {
      do sent++;
      while (stream.send(key, Buffer.alloc(0)));
      stream.onDrain(send);
    };
    send();
    // The answers fill all buffers; then nothing moves any more.
    for (let last = 0; last < sent; await delay(300)) last = sent;
    leave();
  },
  "while its last images are in the worker": (stream, leave) =>
    withStoppedWorker(async () => {
      stream.send("0", IMAGE);
      stream.end();
      await vi.waitFor(() => expect(service.pool.busy).toBe(1), REACH);
      leave();
    }),
};

describe.each(Object.entries(OPEN_STREAM))("over %s", (protocol, open) => {
  describe.each(Object.keys(POINTS))("a client that leaves %s", (point) => {
    // A FIN would wait behind what the service does not read, until its limit of 30 s.
    const ways = WAYS.filter((way) => way !== "halfClose" || point !== "while it does not read");
    test.each(ways)("by %s leaves nothing open", async (way) => {
      const stream = open({ port: service.port, user: USER });
      await POINTS[point]!(stream, () => stream[way](), protocol);
      await vi.waitFor(() => {
        expect(service.status()).toMatchObject({ requestsInFlight: 0, bodyBytes: 0 });
        expect([service.pool.busy, service.pool.waiting]).toEqual([0, 0]);
      }, REACH);
      stream.close();
    });
  });
});
