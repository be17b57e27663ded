import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import type { RunningService } from "../../src/main.ts";
import type { Pool } from "../../src/workers/pool.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

const photo = photograph(5);

const WAIT = { timeout: 20_000, interval: 2 };

const loggedErrors: unknown[] = [];
const log = {
  info: () => {},
  warn: () => {},
  error: (line: unknown) => loggedErrors.push(line),
  droppedLines: 0,
  flush: async () => {},
};

let server: RunningService;
let pool: Pool;
beforeAll(async () => {
  server = await startTestService({ VISAGE_MAX_QUEUE_WAIT_MS: "60000" }, log);
  pool = server.pool;
});
afterAll(() => server.close());

/** Sends a cancellable request over each protocol. */
const CLIENTS: readonly [string, (signal: AbortSignal) => Promise<unknown>][] = [
  [
    "gRPC",
    (signal) =>
      createClient(
        FaceService,
        createGrpcTransport({ baseUrl: `http://127.0.0.1:${server.port}` }),
      ).getImageAttr(
        { imageAttr: { source: { case: "content", value: photo } } },
        { headers: { user_id: USER }, signal },
      ),
  ],
  [
    "plain HTTP",
    (signal) =>
      fetch(`http://127.0.0.1:${server.port}/get_image_attr`, {
        method: "POST",
        headers: { user_id: USER, "content-type": "application/json" },
        body: JSON.stringify({ image_attr: photo.toString("base64") }),
        signal,
      }),
  ],
];

test.each(CLIENTS)(
  "a cancelled request over %s is removed from the queue and the worker",
  async (_, send) => {
    const controller = new AbortController();
    // Stopped, so that no request is answered before the last one arrives.
    const [worker] = pool.pids;
    process.kill(worker!, "SIGSTOP");
    const calls = Array.from({ length: 8 }, () => send(controller.signal).catch(() => "cancelled"));
    await vi.waitFor(() => expect([pool.busy, pool.waiting]).toEqual([1, 7]), WAIT);
    controller.abort();
    expect(await Promise.all(calls)).toEqual(calls.map(() => "cancelled"));
    // Before the worker could have run them.
    await vi.waitFor(() => expect(pool.waiting).toBe(0), WAIT);
    process.kill(worker!, "SIGCONT");
    await vi.waitFor(() => expect([pool.busy, pool.waiting]).toEqual([0, 0]), WAIT);
    await expect(pool.embed(photo)).resolves.toHaveProperty("embedding");
    expect(loggedErrors).toEqual([]);
  },
);
