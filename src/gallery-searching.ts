// What searches galleries: the search process, and the engine that it uses, if there is one.
import { readFileSync } from "node:fs";
import type { AuditTrail } from "./audit/audit-trail.ts";
import type { Config } from "./config.ts";
import { readCalibration } from "./core/index.ts";
import { EngineSync } from "./galleries/engine-sync.ts";
import type { GalleryStore } from "./galleries/gallery-store.ts";
import type { MilvusSettings } from "./galleries/milvus/milvus-client.ts";
import { SearchProcess } from "./galleries/search-process.ts";
import type { ExpiryObserver } from "./galleries/sql-expiry.ts";
import { MAX_OUTPUT_CHARACTERS, readPreviousCalibration } from "./model-pools.ts";
import { auditExpiry } from "./service/audit-expiry.ts";
import type { Log } from "./telemetry/log.ts";
import type { Metrics } from "./telemetry/metrics.ts";

/** Audits and counts what was removed because its time was over. */
export function createExpiryObserver(auditTrail: AuditTrail, metrics: Metrics): ExpiryObserver {
  const { onDue, onExpiry } = auditExpiry(auditTrail);
  return {
    onDue,
    onExpiry: (expired) => {
      onExpiry(expired);
      for (const { personId } of expired)
        metrics.observeExpiry(personId === undefined ? "gallery" : "person");
    },
  };
}

/** Prepares the search process. It starts with its first task. */
export function openSearch(
  config: Config,
  log: Log,
  metrics: Metrics,
  expiryObserver: ExpiryObserver,
): SearchProcess {
  return new SearchProcess({
    location: { databaseUrl: config.databaseUrl, dataDir: config.dataDir },
    calibration: readCalibration(),
    previousCalibration: readPreviousCalibration(config),
    templateKey: config.templateKey,
    maxBytes: config.galleryMemoryBytes,
    graceMs: config.accountsGraceMs,
    maxWaitMs: config.maxQueueWaitMs,
    marksSearched: config.readyGalleries > 0,
    milvus: milvusSettingsFrom(config),
    onLoss: (cause) => log.error({ event: "search process lost", cause }),
    onReplacement: () => log.info({ event: "search process replaced" }),
    onOutput: (text) =>
      log.warn({ event: "search process output", text: text.slice(0, MAX_OUTPUT_CHARACTERS) }),
    onSearch: metrics.observeSearch,
    onLoad: metrics.observeLoad,
    ...expiryObserver,
    // The cause `replaced` means that the database was restored, or taken over by a standby that lagged.
    onReload: (galleryId, cause) =>
      log.warn({ event: "gallery reloaded", resource: `galleries/${galleryId}`, cause }),
  });
}

/** Reads the galleries that were searched last into memory. If they cannot be read now, searches try again. */
export async function preloadGalleries(
  { readyGalleries }: Config,
  searcher: SearchProcess,
  draining: AbortSignal,
  log: Log,
): Promise<void> {
  if (readyGalleries === 0) return;
  await searcher
    .preload(readyGalleries, draining)
    .catch((error: unknown) => log.warn({ event: "galleries not read", cause: String(error) }));
}

/** Returns how to reach Milvus; undefined if galleries are searched in memory. Throws an Error. */
export function milvusSettingsFrom(config: Config): MilvusSettings | undefined {
  const { galleryEngine, milvusUrl, milvusToken, milvusCa, milvusDatabase, milvusIndex } = config;
  if (galleryEngine !== "milvus") return undefined;
  return {
    url: milvusUrl!,
    token: milvusToken,
    ca: milvusCa === undefined ? undefined : readAuthorities(milvusCa),
    database: milvusDatabase,
    index: milvusIndex,
  };
}

function readAuthorities(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`VISAGE_MILVUS_CA names a file that cannot be read (${(error as Error).message})`);
  }
}

/** Starts to bring the engine to the state of the database, if there is one. */
export function openEngineSync(
  { galleryEngine }: Config,
  searcher: SearchProcess,
  log: Log,
): EngineSync | undefined {
  if (galleryEngine === "memory") return undefined;
  return new EngineSync((signal) => searcher.sync(signal), {
    onOutage: (cause) => log.error({ event: "gallery engine unavailable", cause: String(cause) }),
    onRecovery: () => log.info({ event: "gallery engine available" }),
  });
}

/** A store whose erasure includes that in the engine. */
export function withEngineErasure(store: GalleryStore, engineSync: EngineSync): GalleryStore {
  return {
    ...store,
    waitForErasure: async (maxMs) => {
      const erasures = await Promise.all([store.waitForErasure(maxMs), engineSync.wait(maxMs)]);
      return erasures.every(Boolean);
    },
  };
}
