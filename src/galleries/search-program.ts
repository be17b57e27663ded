// The program of the search process: it keeps galleries in memory and searches them. Only SearchProcess starts it.
import { FalseMatchRates } from "../core/index.ts";
import { openDatabase } from "../database/open-database.ts";
import { connectToParent } from "../processes/parent.ts";
import { GalleryIndexes, type GalleryIndexesOptions } from "./gallery-indexes.ts";
import { GallerySearch, type SearchResult } from "./gallery-search.ts";
import { parseMasterKeys } from "./master-keys.ts";
import { type MilvusEngine, openMilvus } from "./milvus/open-milvus.ts";
import {
  type IndexesReport,
  type SearchMessage,
  type SearchProcessMessage,
  type SearchResponse,
  type SearchSettings,
  serializeFailure,
} from "./search-messages.ts";
import { createSqlGalleryStore } from "./sql-gallery-store.ts";

let settings: SearchSettings;
let opening: Promise<GallerySearch> | undefined;
/** Undefined if galleries are searched in memory. */
let engine: MilvusEngine | undefined;
const running = new Map<number, AbortController>();
/** The removals that wait for the service. */
const removals = new Map<number, () => void>();
let lastRemoval = 0;

// What the last report had, and what has happened since.
let reportedSize = "";
let loads: IndexesReport["loads"] = [];
let reloads: IndexesReport["reloads"] = [];
let evictions = 0;

const send = connectToParent<SearchMessage, SearchProcessMessage>((message) => {
  switch (message.type) {
    case "open":
      settings = message.settings;
      break;
    case "search":
      run(message.id, (galleries, signal) => galleries.search(message.request, signal));
      break;
    case "preload":
      run(message.id, (galleries) => galleries.preload(message.count).then(() => undefined));
      break;
    case "sync":
      run(message.id, (_galleries, signal) => engine!.sync(signal).then(() => undefined));
      break;
    case "cancel":
      running.get(message.id)?.abort();
      break;
    case "remove":
      removals.get(message.id)?.();
      removals.delete(message.id);
      break;
    case "ping":
      send({ type: "pong" });
  }
});

function run(
  id: number,
  work: (galleries: GallerySearch, signal: AbortSignal) => Promise<SearchResult | undefined>,
): void {
  const controller = new AbortController();
  running.set(id, controller);
  // A database that cannot be opened is tried again by the next search.
  opening ??= open(settings).catch((error: unknown) => {
    opening = undefined;
    throw error;
  });
  opening
    .then((galleries) => work(galleries, controller.signal).finally(() => reportChanges(galleries)))
    .then(
      (result) => respond({ id, ok: true, result }),
      (error: unknown) => respond({ id, ok: false, error: serializeFailure(error) }),
    );
}

async function open(settings: SearchSettings): Promise<GallerySearch> {
  const { location, calibration, previousCalibration, templateKey, graceMs, marksSearched, milvus } =
    settings;
  const database = await openDatabase(location, { mustExist: true });
  const store = createSqlGalleryStore(database, {
    keys: parseMasterKeys(templateKey),
    onDue: (due) =>
      new Promise((remove) => {
        removals.set(++lastRemoval, remove);
        send({ type: "due", id: lastRemoval, due });
      }),
    onExpiry: (expired) => send({ type: "expired", expired }),
  });
  const onReload: GalleryIndexesOptions["onReload"] = (galleryId, cause) => {
    reloads = [...reloads, { galleryId, cause }];
  };
  engine = milvus && openMilvus(milvus, { database, store, onReload });
  const { maxBytes, maxWaitMs } = settings;
  const galleries = new GallerySearch({
    store,
    indexes:
      engine?.galleries ??
      new GalleryIndexes({
        ...{ store, maxBytes, maxWaitMs, onReload },
        onLoad: (outcome, durationMs) => {
          loads = [...loads, { outcome, durationMs }];
          // The search that started it may have ended.
          reportChanges(galleries);
        },
        onEviction: () => evictions++,
      }),
    rates: new FalseMatchRates(calibration),
    previousRates: previousCalibration && new FalseMatchRates(previousCalibration),
    graceMs,
    marksSearched,
  });
  return galleries;
}

/** Reports what is in memory if a search has changed it. */
function reportChanges({ size }: GallerySearch): void {
  const text = JSON.stringify(size);
  if (text === reportedSize && loads.length === 0 && reloads.length === 0 && evictions === 0) return;
  send({ type: "report", report: { size, loads, reloads, evictions } });
  [reportedSize, loads, reloads, evictions] = [text, [], [], 0];
}

function respond(response: SearchResponse): void {
  running.delete(response.id);
  send({ type: "response", response });
}
