import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { RequestObserver } from "./request-end.ts";

/** The state that is read whenever the metrics are collected. A part that is undefined has not started yet. */
export interface Watched {
  /** Networks and preprocessing behind the vectors. */
  readonly identity: string | undefined;
  readonly workers:
    | {
        readonly size: number;
        /** Process ids of those that are ready. */
        readonly pids: readonly number[];
        readonly busy: number;
        readonly waiting: number;
        readonly restarts: number;
      }
    | undefined;
  readonly server:
    | {
        /** Open connections. */
        readonly connections: { readonly http1: number; readonly http2: number };
        readonly requestsInFlight: number;
        /** Bytes of request bodies in memory. */
        readonly bodyBytes: number;
        /** Connections that were closed at once, by the limit that was reached. */
        readonly rejectedConnections: Readonly<Record<string, number>>;
      }
    | undefined;
  /** Whether accounts can be read and usage can be written. */
  readonly accountsAvailable: boolean | undefined;
  /** Lines that the log dropped because nobody read it fast enough. */
  readonly droppedLogLines: number;
}

/** The metrics of one service, for Prometheus. */
export interface Metrics {
  readonly observe: RequestObserver;
  readonly contentType: string;
  /** All of them, as Prometheus reads them. */
  text(): Promise<string>;
}

/** Outcomes of requests that were refused for no fault of their own. */
const REFUSALS = [
  "OVERLOADED",
  "DRAINING",
  "TOO_MANY_REQUESTS",
  "TOO_MANY_IN_FLIGHT",
  "QUOTA_SPENT",
  "ACCOUNTS_UNAVAILABLE",
];

const SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];
const FACES = [0, 1, 2, 3, 5, 10, 20, 50];

/** Counts requests and their stages; the rest is read by `watch` when the metrics are collected. */
export function createMetrics(watch: () => Watched): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const requests = new Counter({
    name: "visage_requests_total",
    help: "Requests that are over, by operation, wire and outcome",
    labelNames: ["operation", "wire", "outcome"],
    registers,
  });
  const refusals = new Counter({
    name: "visage_refusals_total",
    help: "Requests that were refused for no fault of their own, by reason",
    labelNames: ["reason"],
    registers,
  });
  const requestSeconds = new Histogram({
    name: "visage_request_seconds",
    help: "Time from the headers of a request to the end of its answer",
    labelNames: ["operation", "wire"],
    buckets: SECONDS,
    registers,
  });
  const stageSeconds = new Histogram({
    name: "visage_stage_seconds",
    help: "Time of one step of the work on one image",
    labelNames: ["stage"],
    buckets: SECONDS,
    registers,
  });
  const faces = new Histogram({
    name: "visage_faces_per_image",
    help: "Faces found in an image",
    buckets: FACES,
    registers,
  });
  // So that a rate can be taken from the first refusal on.
  for (const reason of REFUSALS) refusals.inc({ reason }, 0);

  // A gauge without a value has no sample: 0 would be a claim.
  const gauge = (name: string, help: string, read: (watched: Watched) => number | undefined) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const value = read(watch());
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  gauge("visage_workers", "Worker processes that there should be", ({ workers }) => workers?.size);
  gauge("visage_workers_ready", "Worker processes that are ready", ({ workers }) => workers?.pids.length);
  gauge("visage_workers_busy", "Worker processes that are at work", ({ workers }) => workers?.busy);
  gauge("visage_queue_depth", "Images that wait for a worker", ({ workers }) => workers?.waiting);
  gauge(
    "visage_requests_in_flight",
    "Requests that have not ended",
    ({ server }) => server?.requestsInFlight,
  );
  gauge("visage_body_bytes", "Bytes of request bodies in memory", ({ server }) => server?.bodyBytes);
  gauge("visage_accounts_available", "1 while accounts can be read and usage can be written", (watched) =>
    watched.accountsAvailable === undefined ? undefined : Number(watched.accountsAvailable),
  );
  new Counter({
    name: "visage_worker_restarts_total",
    help: "Workers that were started in place of lost ones",
    registers,
    collect() {
      this.reset();
      this.inc(watch().workers?.restarts ?? 0);
    },
  });
  new Counter({
    name: "visage_log_lines_dropped_total",
    help: "Log lines that were dropped because their reader did not keep up",
    registers,
    collect() {
      this.reset();
      this.inc(watch().droppedLogLines);
    },
  });
  new Gauge({
    name: "visage_connections",
    help: "Open connections by protocol",
    labelNames: ["protocol"],
    registers,
    collect() {
      const { server } = watch();
      if (!server) return;
      const { http1, http2 } = server.connections;
      this.set({ protocol: "http1" }, http1);
      this.set({ protocol: "http2" }, http2);
    },
  });
  new Counter({
    name: "visage_connections_rejected_total",
    help: "Connections that were closed at once because too many were open, by the limit that was reached",
    labelNames: ["limit"],
    registers,
    collect() {
      this.reset();
      for (const [limit, count] of Object.entries(watch().server?.rejectedConnections ?? {}))
        this.inc({ limit }, count);
    },
  });
  new Gauge({
    name: "visage_model_info",
    help: "1, with the identity of networks and preprocessing as a label",
    labelNames: ["identity"],
    registers,
    collect() {
      const { identity } = watch();
      if (identity !== undefined) this.set({ identity }, 1);
    },
  });

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    observe: (end) => {
      const { operation, wire, outcome } = end;
      requests.inc({ operation, wire, outcome });
      if (REFUSALS.includes(outcome)) refusals.inc({ reason: outcome });
      requestSeconds.observe({ operation, wire }, end.milliseconds / 1000);
      for (const { stage, milliseconds } of end.stages) stageSeconds.observe({ stage }, milliseconds / 1000);
      for (const count of end.faces) faces.observe(count);
    },
  };
}
