import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import type { RunningService } from "../../src/main.ts";
import type { Pool } from "../../src/workers/pool.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

const photo = photograph(5);

const faults: unknown[] = [];
const log = {
  info: () => {},
  warn: () => {},
  error: (line: unknown) => faults.push(line),
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

/** Ways to ask for a photo's attributes that can be called off. */
const ASKING: readonly [string, (signal: AbortSignal) => Promise<unknown>][] = [
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

test.each(ASKING)(
  "work whose client has left, over %s, is dropped from the queue and the worker",
  async (_, ask) => {
    const leaving = new AbortController();
    const calls = Array.from({ length: 8 }, () => ask(leaving.signal).catch(() => "gone"));
    while (pool.waiting < 7) await sleep(2);
    leaving.abort();
    expect(await Promise.all(calls)).toEqual(calls.map(() => "gone"));
    // Seven that waited would take seconds; one step of the running one does not.
    while (pool.waiting > 0) await sleep(2);
    const start = performance.now();
    while (pool.busy > 0) await sleep(2);
    expect(performance.now() - start).toBeLessThan(2_000);
    await expect(pool.embed(photo)).resolves.toHaveProperty("vector");
    expect(faults, "nobody is at fault").toEqual([]);
  },
);
