import type { Authenticator } from "./accounts/authenticator.ts";
import type { AuditTrail } from "./audit/audit-trail.ts";
import { createAuditTrail } from "./audit/create-audit-trail.ts";
import type { Config } from "./config.ts";
import type { SqlDatabase } from "./database/sql-database.ts";
import type { SearchProcess } from "./galleries/search-process.ts";
import { createListenError } from "./http/listen-error.ts";
import type { RunningServer } from "./http/server.ts";
import { readVersion } from "./package-root.ts";
import { createLog, type Log } from "./telemetry/log.ts";
import type { Metrics, ServiceState } from "./telemetry/metrics.ts";
import type { MetricsServer, openMetricsServer } from "./telemetry/metrics-server.ts";
import { createResource, logFieldsFromResource } from "./telemetry/resource.ts";
import type { Pool } from "./workers/pool.ts";

/** Opens the log of the service. Every line has the version and the instance. */
export function openLog(config: Config): Log {
  return createLog(config.logLevel, undefined, logFieldsFromResource(createResource(config, readVersion())));
}

/** Opens the audit trail. Rejects if its file cannot be opened. */
export async function openAuditTrail({ audit, auditFailure: policy }: Config, log: Log): Promise<AuditTrail> {
  const trail = createAuditTrail(audit, {
    policy,
    onFailure: (cause) => log.error({ event: "audit unavailable", cause: String(cause) }),
    onRecovery: () => log.info({ event: "audit available" }),
    onLoss: (lines) => log.error({ event: "audit lines lost", lines }),
  });
  await trail.open().catch((cause: Error) => {
    throw new Error(`The file of VISAGE_AUDIT cannot be opened: ${cause.message}`, { cause });
  });
  return trail;
}

/** Opens the metrics server unless it is disabled. A default port in use is a warning, a configured one an error. */
export async function openMetrics(
  { metricsHost: host, metricsPort }: Config,
  metrics: Metrics,
  open: typeof openMetricsServer,
  log: Log,
): Promise<MetricsServer | undefined> {
  if (!metricsPort) return undefined;
  const { port, isDefault } = metricsPort;
  const onError = (error: unknown) => log.error({ event: "metrics collection failed", cause: String(error) });
  const onRecovery = () => log.info({ event: "metrics collection recovered" });
  try {
    return await open({ metrics, host, port, onError, onRecovery });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!isDefault || code !== "EADDRINUSE")
      throw createListenError(
        "The metrics server",
        { host, port, settings: "VISAGE_METRICS_HOST and VISAGE_METRICS_PORT" },
        error,
      );
    log.warn({ event: "metrics disabled", cause: message });
    return undefined;
  }
}

/** Opens the trace exporter if it is configured. Its large modules are loaded only then. */
export async function openTracesIfConfigured(config: Config, log: Log) {
  const onFault = (cause: string) => log.warn({ event: "setting ignored", cause });
  const resource = createResource(config, readVersion(), onFault);
  if (config.tracesEndpoint === undefined) return undefined;
  const { openTraces } = await import("./telemetry/traces.ts");
  return openTraces({
    endpoint: config.tracesEndpoint,
    resource,
    sampler: config.tracesSampler,
    argument: config.tracesSamplerArgument,
    onFault,
    onUnreachable: (error) => log.error({ event: "trace collector unavailable", cause: String(error) }),
    onReachable: () => log.info({ event: "trace collector available" }),
  });
}

/** The parts of the service that have started. */
export interface StartedParts {
  pool?: Pool;
  database?: SqlDatabase;
  auditTrail?: AuditTrail;
  authenticator?: Authenticator;
  searcher?: SearchProcess;
  server?: RunningServer;
}

export function readServiceState(
  { pool, database, auditTrail, authenticator, searcher, server }: StartedParts,
  log: Log,
): ServiceState {
  return {
    identity: pool?.identity,
    workers: pool,
    server: server?.status(),
    accountsAvailable: authenticator?.accountsAvailable,
    erasureDelayed: database?.isErasureDelayed,
    audit: auditTrail,
    galleries: searcher?.state,
    droppedLogLines: log.droppedLines,
  };
}
