import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { openMetricsServer } from "../../src/telemetry/metrics-server.ts";
import { freePort } from "../../tools/support/free-port.ts";
import { createGalleryClient, enrol, identify, testPeople } from "../support/galleries.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const get = async (port: number, init: RequestInit = {}, path = "/metrics") => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
};

test("counts requests by operation, protocol and outcome, and measures their stages", async () => {
  const send = (userId: string) => {
    const body = new FormData();
    body.append("img", new Blob([photograph(3).slice()]));
    return fetch(`http://127.0.0.1:${service.port}/get_face_vec`, {
      method: "POST",
      headers: { user_id: userId },
      body,
    });
  };
  await (await send(USER)).text();
  await (await send("an-unknown-user")).text();
  const { status, type, text } = await get(service.metricsPort!);
  expect([status, type]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  for (const line of [
    'visage_requests_total{operation="get_face_vec",protocol="rest",outcome="ok"} 1',
    'visage_requests_total{operation="get_face_vec",protocol="rest",outcome="UNKNOWN_USER"} 1',
    'visage_request_duration_seconds_count{operation="get_face_vec",protocol="rest"} 2',
    'visage_requests_rejected_total{reason="OVERLOADED"} 0',
    "visage_faces_per_image_sum 3",
    "visage_queue_depth 0",
    "visage_workers 1",
    "visage_workers_ready 1",
    "visage_worker_restarts_total 0",
    "visage_accounts_available 1",
    `visage_model_info{identity="${service.pool.identity}"} 1`,
  ])
    expect(text).toContain(line);
  for (const stage of ["queue", "decode", "detect", "embed"])
    expect(text).toContain(`visage_stage_duration_seconds_count{stage="${stage}"} 1`);
  expect(text).toMatch(/^visage_connections\{http_version="1"\} [1-9]/m);
  expect(text).toMatch(/^process_resident_memory_bytes [1-9]/m);
  expect(text).toMatch(/^nodejs_eventloop_lag_seconds /m);
});

test("counts the searches of galleries and what is in memory", async () => {
  const client = createGalleryClient(service, USER);
  await client.createGallery({ galleryId: "g" });
  const people = testPeople(3, 1);
  for (const person of people) await enrol(client, "g", person);
  for (const person of people) expect(await identify(client, "g", person)).toEqual([person.personId]);
  await expect(identify(client, "h", people[0]!)).rejects.toThrow("no gallery h");
  const { text } = await get(service.metricsPort!);
  for (const line of [
    'visage_gallery_searches_total{outcome="ok"} 3',
    'visage_gallery_searches_total{outcome="rejected"} 1',
    'visage_gallery_searches_total{outcome="stale"} 0',
    "visage_gallery_search_duration_seconds_count 4",
    'visage_gallery_load_duration_seconds_count{outcome="ok"} 1',
    'visage_gallery_load_duration_seconds_count{outcome="failed"} 0',
    "visage_galleries_loaded 1",
    "visage_gallery_templates 3",
    "visage_gallery_evictions_total 0",
    'visage_gallery_expired_total{kind="person"} 0',
    'visage_gallery_expired_total{kind="gallery"} 0',
    "visage_search_process_restarts_total 0",
  ])
    expect(text).toContain(line);
  const [, bytes] = /^visage_gallery_memory_bytes (\d+)$/m.exec(text)!;
  expect(Number(bytes)).toBeGreaterThan(3 * 272);
});

test("does not serve metrics on the public port", async () => {
  expect((await get(service.port, { headers: { user_id: USER } })).status).toBe(404);
});

/** The state before anything has started. */
const INITIAL_STATE = {
  identity: undefined,
  workers: undefined,
  server: undefined,
  accountsAvailable: undefined,
  erasureDelayed: undefined,
  audit: undefined,
  galleries: undefined,
  droppedLogLines: 3,
};

describe("the metrics server", () => {
  /** Opens a metrics server that is closed after the test. */
  async function open(text?: () => Promise<string>) {
    const errors: unknown[] = [];
    const metrics = { ...createMetrics(() => INITIAL_STATE), ...(text && { text }) };
    const onError = (error: unknown) => errors.push(error);
    const onRecovery = () => errors.push("recovered");
    const opened = await openMetricsServer({ metrics, host: "127.0.0.1", port: 0, onError, onRecovery });
    onTestFinished(() => opened.close());
    return { ...opened, errors };
  }

  test("omits metrics of parts that have not started", async () => {
    const { port } = await open();
    const { status, text } = await get(port);
    expect(status).toBe(200);
    expect(text).toContain("visage_log_lines_dropped_total 3");
    expect(text).toMatch(/^process_resident_memory_bytes [1-9]/m);
    // A value of 0 would raise an alert.
    expect(text).not.toMatch(/^visage_(accounts_available|workers|connections|model_info|galleries_loaded)/m);
  });

  test("responds while the service starts, and closes with it", async () => {
    const port = await freePort();
    const starting = startTestService({ VISAGE_METRICS_PORT: String(port) });
    let isStarted = false;
    const started = starting.finally(() => {
      isStarted = true;
    });
    const { status } = await vi.waitFor(() => get(port), { timeout: 20_000, interval: 10 });
    expect({ status, isStarted }).toEqual({ status: 200, isStarted: false });
    await (await started).close();
    await expect(get(port)).rejects.toThrow();
  });

  test.each([
    ["an unknown path", "GET", "/", 404],
    ["an unsupported method", "POST", "/metrics", 405],
    ["a query", "GET", "/metrics?name=visage", 200],
  ])("answers %s with %s %s by status %i", async (_, method, path, status) => {
    const { port } = await open();
    expect((await get(port, { method }, path)).status).toBe(status);
  });

  test("answers 500 if collecting fails, and reports the first error and the recovery", async () => {
    const error = new Error("no memory");
    let isFailing = true;
    const { port, errors } = await open(async () => {
      if (isFailing) throw error;
      return "";
    });
    for (let i = 0; i < 2; i++) expect((await get(port)).status).toBe(500);
    isFailing = false;
    for (let i = 0; i < 2; i++) expect((await get(port)).status).toBe(200);
    expect(errors).toEqual([error, "recovered"]);
  });

  test("survives malformed requests", async () => {
    const { port } = await open();
    for (const bytes of [
      "\0\0\0",
      "GET /metrics HTTP/9\r\n\r\n",
      `GET / HTTP/1.1\r\nA: ${"a".repeat(9000)}\r\n\r\n`,
    ]) {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      socket.end(bytes);
      await once(socket, "close");
    }
    expect((await get(port)).status).toBe(200);
  });

  test("accepts at most 16 connections and closes idle ones", async () => {
    const { port } = await open();
    const sockets: Socket[] = Array.from({ length: 16 }, () => connect(port, "127.0.0.1"));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    for (const socket of sockets) socket.on("error", () => {}).resume();
    await expect(get(port)).rejects.toThrow();
    await expect
      .poll(() => get(port).catch(() => ({ status: 0 })), { timeout: 30_000, interval: 500 })
      .toMatchObject({ status: 200 });
  });
});

describe("a metrics port that is in use", () => {
  test("is a startup error that names the variable if it was set", async () => {
    const starting = startTestService({ VISAGE_METRICS_PORT: String(service.metricsPort) });
    await expect(starting).rejects.toThrow(/another program uses this port.*VISAGE_METRICS_PORT/);
  });

  test("is a warning if it is the default port", async () => {
    const blocker = createServer();
    blocker.listen(9464, "127.0.0.1");
    // Another program may already use it.
    await once(blocker, "listening").catch(() => {});
    onTestFinished(() => void blocker.close());
    const lines: string[] = [];
    const log = createLog("info", {
      write: (line) => void lines.push(line),
      dropped: 0,
      flush: async () => {},
    });
    const started = await startTestService({ VISAGE_METRICS_PORT: undefined }, log);
    onTestFinished(() => started.close());
    expect(started.metricsPort).toBeUndefined();
    expect(lines.filter((line) => line.includes('"event":"metrics disabled"'))).toHaveLength(1);
    expect((await get(started.port, {}, "/healthz")).status).toBe(200);
  });

  test("does not matter if metrics are off", async () => {
    const started = await startTestService({ VISAGE_METRICS_PORT: "off" });
    onTestFinished(() => started.close());
    expect(started.metricsPort).toBeUndefined();
  });
});
