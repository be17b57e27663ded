import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

let service: RunningService;
let apart: RunningService;
beforeAll(async () => {
  [service, apart] = await Promise.all([startTestService(), startTestService({ VISAGE_METRICS_PORT: "0" })]);
});
afterAll(() => Promise.all([service.close(), apart.close()]));

const get = async (port: number) => {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
};

test("requests are counted by operation, wire and outcome, and their stages timed", async () => {
  const ask = (userId: string) => {
    const body = new FormData();
    body.append("img", new Blob([photograph(3).slice()]));
    return fetch(`http://127.0.0.1:${service.port}/get_face_vec`, {
      method: "POST",
      headers: { user_id: userId },
      body,
    });
  };
  await (await ask(USER)).text();
  await (await ask("nobody-we-know")).text();
  const { status, type, text } = await get(service.port);
  expect([status, type]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  for (const line of [
    'visage_requests_total{operation="get_face_vec",wire="rest",outcome="ok"} 1',
    'visage_requests_total{operation="get_face_vec",wire="rest",outcome="UNKNOWN_USER"} 1',
    'visage_request_seconds_count{operation="get_face_vec",wire="rest"} 2',
    'visage_refusals_total{reason="OVERLOADED"} 0',
    "visage_faces_per_image_sum 3",
    "visage_queue_depth 0",
    "visage_workers 1",
    "visage_workers_ready 1",
    "visage_worker_restarts_total 0",
    "visage_accounts_available 1",
    `visage_model_info{identity="${service.pool.identity}"} 1`,
  ])
    expect(text).toContain(line);
  for (const stage of ["queue", "decode", "detect", "mesh", "embed"])
    expect(text).toContain(`visage_stage_seconds_count{stage="${stage}"} 1`);
  expect(text).toMatch(/^visage_connections\{protocol="http1"\} [1-9]/m);
  expect(text).toMatch(/^process_resident_memory_bytes [1-9]/m);
  expect(text).toMatch(/^nodejs_eventloop_lag_seconds /m);
});

test("with a port of their own they are nowhere else", async () => {
  expect((await get(apart.metricsPort!)).text).toContain("visage_workers 1");
  expect((await get(apart.port)).status).toBe(401);
});
