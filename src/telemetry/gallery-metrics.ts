import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** The state of the search of galleries. */
export interface GalleryState {
  /** Galleries, templates and bytes in memory. */
  readonly galleries: number;
  readonly faces: number;
  readonly bytes: number;
  readonly evictions: number;
  /** Search processes started to replace lost ones. */
  readonly restarts: number;
}

/** Observes the search of galleries. */
export interface GalleryObserver {
  readonly observeSearch: (outcome: string, durationMs: number) => void;
  readonly observeLoad: (outcome: string, durationMs: number) => void;
  readonly observeExpiry: (kind: "person" | "gallery") => void;
}

const OUTCOMES = ["ok", "stale", "rejected", "canceled", "unavailable"];
const LOAD_OUTCOMES = ["ok", "failed"];
const EXPIRY_KINDS = ["person", "gallery"];
const SEARCH_BUCKETS_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];
const LOAD_BUCKETS_SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];

/** Registers the metrics of galleries. While the state is undefined, the gauges have no samples. */
export function addGalleryMetrics(
  registry: Registry,
  readState: () => GalleryState | undefined,
): GalleryObserver {
  const registers = [registry];
  const addGauge = (name: string, help: string, read: (state: GalleryState) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const state = readState();
        if (state) this.set(read(state));
        else this.remove();
      },
    });
  const addCounter = (name: string, help: string, read: (state: GalleryState) => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        const state = readState();
        this.reset();
        this.inc(state ? read(state) : 0);
      },
    });

  const searches = new Counter({
    name: "visage_gallery_searches_total",
    help: "Searches of galleries by outcome",
    labelNames: ["outcome"],
    registers,
  });
  // Start at 0, so that `rate` includes the first one.
  for (const outcome of OUTCOMES) searches.inc({ outcome }, 0);
  const searchDuration = new Histogram({
    name: "visage_gallery_search_duration_seconds",
    help: "Duration of one search, with reading what has changed",
    buckets: SEARCH_BUCKETS_SECONDS,
    registers,
  });
  const loadDuration = new Histogram({
    name: "visage_gallery_load_duration_seconds",
    help: "Time to read a gallery from the database into memory by outcome",
    labelNames: ["outcome"],
    buckets: LOAD_BUCKETS_SECONDS,
    registers,
  });
  for (const outcome of LOAD_OUTCOMES) loadDuration.zero({ outcome });
  const expired = new Counter({
    name: "visage_gallery_expired_total",
    help: "People and galleries that were removed because their time was over, by kind",
    labelNames: ["kind"],
    registers,
  });
  for (const kind of EXPIRY_KINDS) expired.inc({ kind }, 0);
  addGauge("visage_galleries_loaded", "Galleries in memory", ({ galleries }) => galleries);
  addGauge("visage_gallery_templates", "Templates of all galleries in memory", ({ faces }) => faces);
  addGauge("visage_gallery_memory_bytes", "Memory of the galleries in memory", ({ bytes }) => bytes);
  addCounter(
    "visage_gallery_evictions_total",
    "Galleries dropped from memory to make room for others",
    ({ evictions }) => evictions,
  );
  addCounter(
    "visage_search_process_restarts_total",
    "Search processes started to replace lost ones",
    ({ restarts }) => restarts,
  );

  return {
    observeSearch: (outcome, durationMs) => {
      searches.inc({ outcome });
      searchDuration.observe(durationMs / 1000);
    },
    observeLoad: (outcome, durationMs) => loadDuration.observe({ outcome }, durationMs / 1000),
    observeExpiry: (kind) => expired.inc({ kind }),
  };
}
