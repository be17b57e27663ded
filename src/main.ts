import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { type Authenticator, createAuthenticator } from "./accounts/authenticator.ts";
import { openAccountStore } from "./accounts/open-account-store.ts";
import { ensureTrialUser } from "./accounts/trial-user.ts";
import type { Config } from "./config.ts";
import type { Credentials } from "./http/port.ts";
import type { RunningServer } from "./http/server.ts";
import { digestsOf, readManifest } from "./model-manifest.ts";
import { createLog, type Log, logFieldsFromSummary } from "./telemetry/log.ts";
import type { Metrics, ServiceState } from "./telemetry/metrics.ts";
import type { MetricsServer, openMetricsServer } from "./telemetry/metrics-server.ts";
import { countCpus } from "./workers/cpu-count.ts";
import { openPool, type Pool } from "./workers/pool.ts";

/** A service with all that it needs behind it. */
export interface RunningService extends RunningServer {
  /** The id of a user to try the service with, if there is one. */
  readonly userId: string | undefined;
  /** The workers, for those who watch them. */
  readonly pool: Pool;
  /** The port of the metrics, if there is one. */
  readonly metricsPort: number | undefined;
  /** Reads the certificate and its key again. If they cannot be used the old ones stay. Never rejects. */
  reload(): Promise<void>;
}

/** The most that one log line has of what a worker prints. */
const MAX_OUTPUT_CHARACTERS = 4096;

/** Opens what the service needs and starts it; it is ready when this resolves. */
export async function startService(
  config: Config,
  log: Log = createLog(config.logLevel),
): Promise<RunningService> {
  const parts = new Parts();
  try {
    const credentials = await readCredentials(config);
    const cpus = countCpus();
    if (config.workers > cpus) log.warn({ event: "more workers than cores", workers: config.workers, cpus });
    // Not waited for yet: workers take the longest to start, and meanwhile there is enough to do here.
    const opening = parts.addLater(
      openPool({
        modelsDir: config.modelsDir,
        digests: digestsOf(readManifest()),
        limits: { maxBytes: config.maxImageBytes, maxPixels: config.maxImagePixels },
        workers: config.workers,
        maxQueueWaitMs: config.maxQueueWaitMs,
        onWorkerLoss: ({ cause, restarts }) => log.error({ event: "worker lost", cause, restarts }),
        onWorkerOutput: (text) =>
          log.warn({ event: "worker output", text: text.slice(0, MAX_OUTPUT_CHARACTERS) }),
      }),
    );
    const { createImageFetcher, createMetrics, createSyntheticFace, openMetricsServer, startServer } =
      await loadServer();
    // Open from the start: what has not started yet has no samples.
    const started: Started = {};
    const metrics = createMetrics(() => watchedOf(started, log));
    const metricsPort = parts.addIf(await openMetrics(config, metrics, openMetricsServer, log));
    const store = parts.add(await openAccountStore(config));
    const userId = await ensureTrialUser({
      store,
      id: config.trialUser,
      dataDir: config.databaseUrl === undefined ? config.dataDir : undefined,
    });
    const onStoreError = (fault: unknown) =>
      log.error({ event: "accounts unavailable", cause: String(fault) });
    const authenticator = parts.add(
      createAuthenticator({ store, graceMs: config.accountsGraceMs, onStoreError }),
    );
    started.authenticator = authenticator;
    const fetcher = parts.add(
      createImageFetcher({
        allow: config.fetchAllow,
        timeoutMs: config.fetchTimeoutMs,
        maxBytes: config.maxImageBytes,
      }),
    );
    const pool = await opening;
    started.pool = pool;
    const traces = parts.addIf(await openTracesOf(config));
    const server = parts.add(
      await startServer({
        config,
        analyzer: pool,
        fetcher,
        authenticator,
        warmUpImage: createSyntheticFace(),
        log,
        observers: [
          (end) => log.info(logFieldsFromSummary(end)),
          metrics.observe,
          ...(traces ? [traces.observe] : []),
        ],
        credentials,
      }),
    );
    started.server = server;
    let reloading = Promise.resolve();
    // One after the other, so that the last one decides.
    const reload = () => {
      reloading = reloading.then(() => renewCredentials(config, server, log));
      return reloading;
    };
    return { ...server, userId, pool, metricsPort: metricsPort?.port, reload, close: () => parts.close() };
  } catch (fault) {
    await parts.close();
    throw fault;
  }
}

/** The parts of a service that have started. */
interface Started {
  pool?: Pool;
  authenticator?: Authenticator;
  server?: RunningServer;
}

function watchedOf({ pool, authenticator, server }: Started, log: Log): ServiceState {
  return {
    identity: pool?.identity,
    workers: pool,
    server: server?.status(),
    accountsAvailable: authenticator?.accountsAvailable,
    droppedLogLines: log.droppedLines,
  };
}

/** Opens the port of the metrics, if there is to be one. Only the default port may be taken by others. */
async function openMetrics(
  { metricsHost: host, metricsPort }: Config,
  metrics: Metrics,
  open: typeof openMetricsServer,
  log: Log,
): Promise<MetricsServer | undefined> {
  if (!metricsPort) return undefined;
  const { port, isDefault } = metricsPort;
  const onError = (fault: unknown) => log.error({ event: "metrics collection failed", cause: String(fault) });
  try {
    return await open({ metrics, host, port, onError });
  } catch (fault) {
    const { code, message } = fault as NodeJS.ErrnoException;
    if (!isDefault || code !== "EADDRINUSE")
      throw new Error(
        `VISAGE_METRICS_PORT and VISAGE_METRICS_HOST must name a port to listen at: ${message}`,
        { cause: fault },
      );
    log.warn({ event: "metrics disabled", cause: message });
    return undefined;
  }
}

/** What was opened, to be closed the other way round: what was opened later may still use what was opened before. */
class Parts {
  readonly #opened: { close(): Promise<void> }[] = [];

  add<Part extends { close(): Promise<void> }>(part: Part): Part {
    this.#opened.push(part);
    return part;
  }

  /** What is still being opened is closed once it is open, if it ever is. */
  addLater<Part extends { close(): Promise<void> }>(opening: Promise<Part>): Promise<Part> {
    const opened = opening.catch(() => undefined);
    this.#opened.push({ close: async () => (await opened)?.close() });
    return opening;
  }

  addIf<Part extends { close(): Promise<void> }>(part: Part | undefined): Part | undefined {
    return part && this.add(part);
  }

  async close(): Promise<void> {
    for (const part of this.#opened.splice(0).toReversed()) await part.close();
  }
}

/** Not imported above: it is much code, which is loaded while the workers start. */
async function loadServer() {
  const { createSyntheticFace } = await import("./core/image/synthetic-face.ts");
  const { createImageFetcher } = await import("./fetch/image-fetcher.ts");
  const { createMetrics } = await import("./telemetry/metrics.ts");
  const { openMetricsServer } = await import("./telemetry/metrics-server.ts");
  const { startServer } = await import("./http/server.ts");
  return { createImageFetcher, createMetrics, createSyntheticFace, openMetricsServer, startServer };
}

/** Loaded only where it is asked for: it is much code, and most do without. */
async function openTracesOf({ tracesEndpoint: endpoint, tracesName: serviceName }: Config) {
  if (endpoint === undefined) return undefined;
  const { openTraces } = await import("./telemetry/traces.ts");
  return openTraces({ endpoint, serviceName });
}

/** Takes the certificate as it is on the disk now. Logs why where that fails, and keeps the present one. */
async function renewCredentials(config: Config, server: RunningServer, log: Log): Promise<void> {
  try {
    const renewed = await readCredentials(config);
    if (!renewed) return;
    server.renew?.(renewed);
    log.info({ event: "certificate reloaded", validTo: new X509Certificate(renewed.cert).validTo });
  } catch (fault) {
    log.error({ event: "certificate reload failed", cause: (fault as Error).message });
  }
}

/** Reads the certificate and its key, if they are set. Throws unless both can be parsed and belong together. */
async function readCredentials({ tlsCert, tlsKey }: Config): Promise<Credentials | undefined> {
  if (!tlsCert || !tlsKey) return undefined;
  try {
    const [cert, key] = await Promise.all([readFile(tlsCert, "utf8"), readFile(tlsKey, "utf8")]);
    // The context would take an empty file for none that was given.
    new X509Certificate(cert);
    createPrivateKey(key);
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (fault) {
    const { message } = fault as Error;
    throw new Error(`VISAGE_TLS_CERT and VISAGE_TLS_KEY cannot be used: ${message}`, { cause: fault });
  }
}
