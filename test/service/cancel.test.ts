import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { DEFAULT_MODELS_DIR } from "../../models/prepare.ts";
import { readConfig } from "../../src/config.ts";
import { openPool, type Pool } from "../../src/core/index.ts";
import { createLog } from "../../src/ops/log.ts";
import { type RunningServer, startServer } from "../../src/server.ts";
import { photograph } from "../support/images.ts";

const USER = "trial-user-of-tests";
const photo = photograph(5);

let pool: Pool;
let server: RunningServer;
beforeAll(async () => {
  pool = await openPool({ modelsDir: DEFAULT_MODELS_DIR, workers: 1, queue: 10 });
  const config = { ...readConfig({}), host: "127.0.0.1", port: 0 };
  server = await startServer({ config, analyzer: pool, userId: USER, log: createLog("off") });
});
afterAll(async () => {
  await server.close();
  await pool.close();
});

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
  },
);
