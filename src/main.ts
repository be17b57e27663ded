import { X509Certificate } from "node:crypto";
import { createAuthenticator } from "./accounts/authenticator.ts";
import { createSqlStore } from "./accounts/sql-store.ts";
import { ensureTrialUser } from "./accounts/trial-user.ts";
import type { Config } from "./config.ts";
import { createSyntheticFace } from "./core/index.ts";
import { openDatabase } from "./database/open-database.ts";
import { requireMasterKeys } from "./galleries/data-keys.ts";
import { ExpirySweep } from "./galleries/expiry-sweep.ts";
import type { GalleryStore } from "./galleries/gallery-store.ts";
import { parseMasterKeys } from "./galleries/master-keys.ts";
import { createSqlGalleryStore } from "./galleries/sql-gallery-store.ts";
import {
  createExpiryObserver,
  openEngineSync,
  openSearch,
  preloadGalleries,
  withEngineErasure,
} from "./gallery-searching.ts";
import { isLoopback } from "./http/loopback.ts";
import type { RunningServer } from "./http/server.ts";
import { readTlsCredentials } from "./http/tls-credentials.ts";
import { openPreviousPool, openServicePool, readRatesOf, type StuckOptions } from "./model-pools.ts";
import {
  openAuditTrail,
  openLog,
  openMetrics,
  openTracesIfConfigured,
  readServiceState,
  type StartedParts,
} from "./monitoring.ts";
import { ResourceStack } from "./resource-stack.ts";
import { auditTrialUser } from "./service/audit-trial-user.ts";
import { createGalleryOutageLog } from "./telemetry/gallery-outage.ts";
import type { Log } from "./telemetry/log.ts";
import { createRequestLog } from "./telemetry/request-log.ts";
import { countCpus } from "./workers/cpu-count.ts";
import type { Pool } from "./workers/pool.ts";

/** A running service with all its resources. */
export interface RunningService extends RunningServer {
  /** Id of the trial user, if there is one. */
  readonly userId: string | undefined;
  /** The worker pool, for monitoring. */
  readonly pool: Pool;
  /** Port of the metrics server; undefined if metrics are disabled. */
  readonly metricsPort: number | undefined;
  /** Reloads the files of TLS. Keeps the old ones if one of the new ones is invalid. Never rejects. */
  reload(): Promise<void>;
}

/** Starts the service. It is ready when the promise resolves. On an error, everything opened so far is closed. */
export async function startService(
  config: Config,
  log: Log = openLog(config),
  { stuckAfterMs }: StuckOptions = {},
): Promise<RunningService> {
  const resources = new ResourceStack();
  try {
    const credentials = await readTlsCredentials(config);
    const cpus = countCpus();
    if (config.workers > cpus) log.warn({ event: "more workers than cores", workers: config.workers, cpus });
    // Do not await the workers yet: they take the longest to start.
    const openingPool = resources.addPending(openServicePool(config, log, { stuckAfterMs }));
    const openingPreviousPool = resources.addPending(openPreviousPool(config, log, { stuckAfterMs }));
    const { createImageFetcher, createMetrics, createServices, openMetricsServer, startServer } =
      await loadServerModules();
    // Metrics are served during the start; parts that have not started have no samples.
    const started: StartedParts = {};
    const metrics = createMetrics(() => readServiceState(started, log));
    const metricsServer = resources.addIfDefined(await openMetrics(config, metrics, openMetricsServer, log));
    const auditTrail = resources.add(await openAuditTrail(config, log));
    started.auditTrail = auditTrail;
    const database = await openDatabase(config, {
      onErasureDelay: (error) => log.warn({ event: "erasure delayed", cause: String(error) }),
      onErasureEnd: () => log.info({ event: "erasure finished" }),
    });
    started.database = database;
    const store = resources.add(createSqlStore(database));
    const masterKeys = parseMasterKeys(config.templateKey);
    await requireMasterKeys(database, masterKeys);
    const expiryObserver = createExpiryObserver(auditTrail, metrics);
    const galleryStore = createSqlGalleryStore(database, { keys: masterKeys, ...expiryObserver });
    galleryStore.finishDeletions();
    const onSweepError = (error: unknown) => log.warn({ event: "expiry failed", cause: String(error) });
    resources.add(new ExpirySweep(galleryStore, { onError: onSweepError }));
    const searcher = resources.add(openSearch(config, log, metrics, expiryObserver));
    started.searcher = searcher;
    const engineSync = resources.addIfDefined(openEngineSync(config, searcher, log));
    const galleries = engineSync ? withEngineErasure(galleryStore, engineSync) : galleryStore;
    const userId = await ensureTrialUser({
      store,
      key: config.trialUser,
      dataDir: config.databaseUrl === undefined ? config.dataDir : undefined,
      mayGenerate: isLoopback(config.host),
      runAudited: auditTrialUser(auditTrail),
    });
    if (config.trialUser !== undefined && userId === undefined)
      log.warn({ event: "trial user has another key", cause: "VISAGE_TRIAL_USER was rotated or revoked" });
    const authenticator = resources.add(
      createAuthenticator({
        store,
        graceMs: config.accountsGraceMs,
        onStoreError: (error) => log.error({ event: "accounts unavailable", cause: String(error) }),
        onStoreRecovery: () => log.info({ event: "accounts available" }),
      }),
    );
    started.authenticator = authenticator;
    const fetcher = resources.add(
      createImageFetcher({
        allow: config.fetchAllow,
        timeoutMs: config.fetchTimeoutMs,
        maxBytes: config.maxImageBytes,
        formats: config.imageFormats,
      }),
    );
    const pool = await openingPool;
    started.pool = pool;
    const previousAnalyzer = await openingPreviousPool;
    await warnOfOtherModels(galleries, [pool, previousAnalyzer], log);
    const traces = resources.addIfDefined(await openTracesIfConfigured(config, log));
    const server = resources.add(
      await startServer({
        config,
        services: createServices({
          analyzer: pool,
          previousAnalyzer,
          fetcher,
          rates: readRatesOf(pool),
          galleries,
          searcher,
          accounts: store,
          off: config.off,
          hasAdmin: config.adminKey !== undefined,
          timeoutMs: config.requestTimeoutMs,
          isLegacy: config.legacy,
          log,
          auditTrail,
        }),
        pool,
        authenticator,
        prepare: (draining) => preloadGalleries(config, searcher, draining, log),
        warmUpImage: createSyntheticFace(),
        log,
        observers: [
          createRequestLog(log),
          createGalleryOutageLog(log),
          metrics.observe,
          ...(traces ? [traces.observe] : []),
        ],
        credentials,
      }),
    );
    started.server = server;
    let reloading = Promise.resolve();
    // Reload sequentially, so that the last certificate wins.
    const reload = () => {
      reloading = reloading.then(() => reloadCredentials(config, server, log));
      return reloading;
    };
    return {
      ...server,
      userId,
      pool,
      metricsPort: metricsServer?.port,
      reload,
      close: () => resources.close(),
    };
  } catch (error) {
    await resources.close();
    throw error;
  }
}

/** Logs which galleries cannot be searched, because the service does not have their model. */
async function warnOfOtherModels(
  galleries: GalleryStore,
  pools: readonly (Pool | undefined)[],
  log: Log,
): Promise<void> {
  for (const [model, count] of await galleries.countModels())
    if (!pools.some((pool) => pool?.identity === model))
      log.warn({ event: "galleries of another model", model, galleries: count });
}

/** Loads the large modules of the server while the workers start. */
async function loadServerModules() {
  const { createImageFetcher } = await import("./fetch/image-fetcher.ts");
  const { createMetrics } = await import("./telemetry/metrics.ts");
  const { openMetricsServer } = await import("./telemetry/metrics-server.ts");
  const { startServer } = await import("./http/server.ts");
  const { createServices } = await import("./services.ts");
  return { createImageFetcher, createMetrics, createServices, openMetricsServer, startServer };
}

/** Reloads the certificates from disk. On an error, logs it and keeps the current ones. */
async function reloadCredentials(config: Config, server: RunningServer, log: Log): Promise<void> {
  try {
    const credentials = await readTlsCredentials(config);
    if (!credentials) return;
    server.renew?.(credentials);
    log.info({ event: "certificate reloaded", validTo: new X509Certificate(credentials.cert).validTo });
  } catch (error) {
    log.error({ event: "certificate reload failed", cause: (error as Error).message });
  }
}
