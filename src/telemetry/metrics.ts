import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { addGalleryMetrics, type GalleryObserver, type GalleryState } from "./gallery-metrics.ts";
import type { RequestObserver } from "./request-summary.ts";

/** The state that the metrics read when they are collected. A part is undefined until it has started. */
export interface ServiceState {
  /** Identity of the networks and preprocessing that produce the embeddings. */
  readonly identity: string | undefined;
  readonly workers:
    | {
        /** Configured number of workers. */
        readonly size: number;
        /** Process ids of the ready workers. */
        readonly pids: readonly number[];
        readonly busy: number;
        /** Jobs in the queue. */
        readonly waiting: number;
        readonly restarts: number;
      }
    | undefined;
  readonly server:
    | {
        /** Open connections. */
        readonly connections: { readonly http1: number; readonly http2: number };
        readonly requestsInFlight: number;
        /** Requests whose work has not ended, although their clients may have left. */
        readonly requestsRunning: number;
        /** Bytes of request bodies in memory. */
        readonly bodyBytes: number;
        /** Number of rejected connections by the limit that was exceeded. */
        readonly rejectedConnections: Readonly<Record<string, number>>;
      }
    | undefined;
  /** Whether accounts can be read and usage can be written. */
  readonly accountsAvailable: boolean | undefined;
  /** Whether deleted rows have been in the database file for a while. Undefined before the database is open. */
  readonly erasureDelayed: boolean | undefined;
  /** The audit trail. Undefined before it is open. */
  readonly audit:
    | {
        /** Whether lines cannot be written. */
        readonly isFailing: boolean;
        readonly lines: { readonly written: number; readonly lost: number };
      }
    | undefined;
  /** The search of galleries. */
  readonly galleries: GalleryState | undefined;
  /** Log lines dropped because the reader was too slow. */
  readonly droppedLogLines: number;
}

/** The metrics of the service for Prometheus. */
export interface Metrics extends GalleryObserver {
  readonly observe: RequestObserver;
  readonly contentType: string;
  /** Returns all metrics in the Prometheus text format. */
  text(): Promise<string>;
}

/** Outcomes of valid requests that the service rejects because of a limit or an outage. */
const REJECTION_REASONS = [
  "OVERLOADED",
  "DRAINING",
  "TOO_MANY_REQUESTS",
  "TOO_MANY_IN_FLIGHT",
  "QUOTA_SPENT",
  "ACCOUNTS_UNAVAILABLE",
  "GALLERIES_UNAVAILABLE",
  "AUDIT_UNAVAILABLE",
  "GALLERY_LOADING",
];

const DURATION_BUCKETS_SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];
const FACE_COUNT_BUCKETS = [0, 1, 2, 3, 5, 10, 20, 50];

/** Creates the metrics. Request metrics come from `observe`; all others call `readState` when they are collected. */
export function createMetrics(readState: () => ServiceState): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  addStateMetrics(registry, readState);
  const galleries = addGalleryMetrics(registry, () => readState().galleries);

  const requests = new Counter({
    name: "visage_requests_total",
    help: "Finished requests by operation, protocol and outcome",
    labelNames: ["operation", "protocol", "outcome"],
    registers,
  });
  const rejectedRequests = new Counter({
    name: "visage_requests_rejected_total",
    help: "Valid requests that were rejected because of a limit or an outage, by reason",
    labelNames: ["reason"],
    registers,
  });
  const requestDuration = new Histogram({
    name: "visage_request_duration_seconds",
    help: "Time from the request headers to the end of the response",
    labelNames: ["operation", "protocol"],
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  });
  const stageDuration = new Histogram({
    name: "visage_stage_duration_seconds",
    help: "Duration of one processing stage of one image",
    labelNames: ["stage"],
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  });
  const faces = new Histogram({
    name: "visage_faces_per_image",
    help: "Faces found in an image",
    buckets: FACE_COUNT_BUCKETS,
    registers,
  });
  // Start at 0, so that `rate` includes the first rejection.
  for (const reason of REJECTION_REASONS) rejectedRequests.inc({ reason }, 0);

  return {
    ...galleries,
    contentType: registry.contentType,
    text: () => registry.metrics(),
    observe: ({ operation, protocol, outcome, durationMs, stages, faces: faceCounts }) => {
      requests.inc({ operation, protocol, outcome });
      if (REJECTION_REASONS.includes(outcome)) rejectedRequests.inc({ reason: outcome });
      requestDuration.observe({ operation, protocol }, durationMs / 1000);
      for (const { stage, milliseconds } of stages) stageDuration.observe({ stage }, milliseconds / 1000);
      for (const count of faceCounts) faces.observe(count);
    },
  };
}

/** Registers the metrics that are read from the state of the service. */
function addStateMetrics(registry: Registry, readState: () => ServiceState): void {
  const registers = [registry];

  /** Adds a gauge. While its value is undefined it has no sample, because 0 would be a wrong statement. */
  const addGauge = (name: string, help: string, read: (state: ServiceState) => number | undefined) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const value = read(readState());
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  const addCounter = (name: string, help: string, read: (state: ServiceState) => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read(readState()));
      },
    });

  addGauge("visage_workers", "Configured worker processes", ({ workers }) => workers?.size);
  addGauge("visage_workers_ready", "Worker processes that are ready", ({ workers }) => workers?.pids.length);
  addGauge("visage_workers_busy", "Worker processes that run a job", ({ workers }) => workers?.busy);
  addGauge("visage_queue_depth", "Jobs that wait for a worker", ({ workers }) => workers?.waiting);
  addGauge(
    "visage_requests_in_flight",
    "Requests that have not finished",
    ({ server }) => server?.requestsInFlight,
  );
  addGauge(
    "visage_requests_running",
    "Requests whose work has not ended, also if their clients have left",
    ({ server }) => server?.requestsRunning,
  );
  addGauge(
    "visage_request_body_memory_bytes",
    "Bytes of request bodies in memory",
    ({ server }) => server?.bodyBytes,
  );
  addGauge(
    "visage_accounts_available",
    "1 if accounts can be read and usage can be written, otherwise 0",
    ({ accountsAvailable }) => (accountsAvailable === undefined ? undefined : Number(accountsAvailable)),
  );
  addGauge(
    "visage_erasure_delayed",
    "1 while deleted rows cannot be erased from the files of the database, otherwise 0",
    ({ erasureDelayed }) => (erasureDelayed === undefined ? undefined : Number(erasureDelayed)),
  );
  addGauge(
    "visage_audit_failing",
    "1 while lines of the audit trail cannot be written, otherwise 0",
    ({ audit }) => audit && Number(audit.isFailing),
  );
  addCounter(
    "visage_audit_lines_total",
    "Lines written to the audit trail",
    ({ audit }) => audit?.lines.written ?? 0,
  );
  addCounter(
    "visage_audit_lines_lost_total",
    "Lines of the audit trail that could neither be written nor kept in memory",
    ({ audit }) => audit?.lines.lost ?? 0,
  );
  addCounter(
    "visage_worker_restarts_total",
    "Workers started to replace lost ones",
    ({ workers }) => workers?.restarts ?? 0,
  );
  addCounter(
    "visage_log_lines_dropped_total",
    "Log lines dropped because the reader was too slow",
    ({ droppedLogLines }) => droppedLogLines,
  );
  new Gauge({
    name: "visage_connections",
    help: "Open connections by HTTP version",
    labelNames: ["http_version"],
    registers,
    collect() {
      const { server } = readState();
      if (!server) return;
      this.set({ http_version: "1" }, server.connections.http1);
      this.set({ http_version: "2" }, server.connections.http2);
    },
  });
  new Counter({
    name: "visage_connections_rejected_total",
    help: "Connections closed immediately because of a limit, by that limit",
    labelNames: ["limit"],
    registers,
    collect() {
      this.reset();
      for (const [limit, count] of Object.entries(readState().server?.rejectedConnections ?? {}))
        this.inc({ limit }, count);
    },
  });
  new Gauge({
    name: "visage_model_info",
    help: "Always 1; the label is the identity of the networks and preprocessing",
    labelNames: ["identity"],
    registers,
    collect() {
      const { identity } = readState();
      if (identity !== undefined) this.set({ identity }, 1);
    },
  });
}
