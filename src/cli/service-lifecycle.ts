import { setTimeout as sleep } from "node:timers/promises";
import type { RunningService } from "../main.ts";
import type { Log } from "../telemetry/log.ts";

/** How long to wait for the reader of the log before the process exits. */
const LOG_FLUSH_TIMEOUT_MS = 1000;
/** How long requests in flight may take after an unhandled error. */
const ERROR_GRACE_MS = 5000;

const STOP_SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** What the lifecycle uses of the process: its events and its exit. */
export interface ServiceProcess {
  on(event: string, listener: (value: unknown) => void): unknown;
  once(event: string, listener: (value: unknown) => void): unknown;
  exit(code: number): void;
}

/** What the lifecycle uses of the service. */
export type ManagedService = Pick<RunningService, "drain" | "close" | "reload">;

/** Options of a lifecycle. */
export interface LifecycleOptions<Service extends ManagedService> {
  readonly start: () => Promise<Service>;
  /** Called when the service has started, unless it is to stop already. */
  readonly onStarted: (service: Service) => void;
  /** How long new requests are accepted after SIGTERM. */
  readonly drainMs: number;
  readonly log: Log;
  readonly process: ServiceProcess;
}

/**
 * Starts a service and stops it on a signal: gracefully on SIGTERM, without draining on SIGINT, immediately on a second
 * one. SIGHUP reloads its certificate. Resolves when it has stopped; rejects if it cannot start.
 */
export async function runUntilStopped<Service extends ManagedService>({
  start,
  onStarted,
  drainMs,
  log,
  process,
}: LifecycleOptions<Service>): Promise<void> {
  // Handle signals from now on, because the start takes seconds.
  const stopSignal = waitForStopSignal(process);
  const starting = start();
  stopOnUnhandledError(starting, log, process);
  // Errors of the start are reported below; `reload` never rejects.
  process.on("SIGHUP", () => starting.then(({ reload }) => reload()).catch(() => {}));

  const isStarted = await Promise.race([starting.then(() => true), stopSignal.then(() => false)]);
  if (isStarted) onStarted(await starting);
  const signal = await stopSignal;
  for (const again of STOP_SIGNALS) process.once(again, () => process.exit(1));
  const service = await starting;
  if (isStarted && signal === "SIGTERM") await service.drain(drainMs);
  await service.close();
  await log.flush(LOG_FLUSH_TIMEOUT_MS);
}

/** Waits for the first SIGINT or SIGTERM. */
function waitForStopSignal(process: ServiceProcess): Promise<unknown> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.once(signal, resolve);
  });
}

/**
 * Exits with code 1 after an unhandled error, because the state of the process is unknown; a supervisor restarts it.
 * Rejects new connections and lets requests in flight finish. This is the last line of defence.
 */
function stopOnUnhandledError(starting: Promise<ManagedService>, log: Log, process: ServiceProcess): void {
  let isStopping = false;
  const stop = (event: string) => (cause: unknown) => {
    log.error({ event, cause: cause instanceof Error ? cause.stack : String(cause) });
    if (isStopping) return;
    isStopping = true;
    const closed = starting.then((service) => service.close());
    Promise.race([closed, sleep(ERROR_GRACE_MS)])
      .catch((error: unknown) => log.error({ event: "shutdown failed", cause: String(error) }))
      .then(() => log.flush(LOG_FLUSH_TIMEOUT_MS))
      .catch(() => {})
      .finally(() => process.exit(1));
  };
  process.on("uncaughtException", stop("uncaught exception"));
  process.on("unhandledRejection", stop("unhandled rejection"));
}
