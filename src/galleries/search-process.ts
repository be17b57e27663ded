import { compiledProgram } from "../processes/compiled-program.ts";
import { ProgramProcess } from "../processes/program-process.ts";
import type { LoadOutcome } from "./gallery-indexes.ts";
import type { SearchRequest, SearchResult } from "./gallery-search.ts";
import { GalleryError, type ReloadCause } from "./gallery-store.ts";
import {
  deserializeFailure,
  type IndexesReport,
  type SearchMessage,
  type SearchProcessMessage,
  type SearchResponse,
  type SearchSettings,
} from "./search-messages.ts";
import type { IndexesSize } from "./searchable-galleries.ts";
import type { ExpiryObserver } from "./sql-expiry.ts";

/** Searches galleries. */
export interface GallerySearcher {
  /**
   * Throws GalleryError, the signal's reason, and any other error if the database cannot be reached or the search
   * process has ended or is stuck; the search may then be repeated.
   */
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchResult>;
  /** Loads the `count` galleries that were searched last. Throws what `search` throws. */
  preload(count: number, signal: AbortSignal): Promise<void>;
  /** Brings the engine that searches to the state of the database. Throws what `search` throws. */
  sync(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/**
 * How a search ended: `stale` without the database, `rejected` by a GalleryError, `canceled` by the caller, and
 * `unavailable` for lack of a database or a process.
 */
export type SearchOutcome = "ok" | "stale" | "rejected" | "canceled" | "unavailable";

/** The state of the search process, for monitoring. */
export interface SearchState extends IndexesSize {
  /** Indexes dropped because their memory was needed. */
  readonly evictions: number;
  /** Processes started to replace lost ones. */
  readonly restarts: number;
}

/** Options of the search process. */
export interface SearchProcessOptions extends SearchSettings, Partial<ExpiryObserver> {
  /** Called when the process exits unexpectedly. The next search starts another one. */
  readonly onLoss: (cause: string) => void;
  /** Called when another process responds after a loss. */
  readonly onReplacement?: () => void;
  /** Gets what the process prints on standard error. */
  readonly onOutput: (text: string) => void;
  /** Called when a search has ended. */
  readonly onSearch?: (outcome: SearchOutcome, durationMs: number) => void;
  /** Called when a gallery has been read into memory or could not be read. */
  readonly onLoad?: (outcome: LoadOutcome, durationMs: number) => void;
  /** Called when a gallery in memory has to be read again. */
  readonly onReload?: (galleryId: string, cause: ReloadCause) => void;
  /** How often a process with searches must show that it is not stuck. 5 seconds by default. */
  readonly pingIntervalMs?: number;
}

const EMPTY: IndexesSize = { galleries: 0, faces: 0, bytes: 0 };

const PING_INTERVAL_MS = 5_000;
/** How many pings in a row may have no response. After that the process is killed. */
const MAX_MISSED_PINGS = 2;

type Program = ProgramProcess<SearchMessage, SearchProcessMessage>;

type Task =
  | { readonly type: "search"; readonly request: SearchRequest }
  | { readonly type: "preload"; readonly count: number }
  | { readonly type: "sync" };

interface PendingSearch {
  readonly id: number;
  settle(response: SearchResponse | Error): void;
}

/**
 * Searches in a process of its own, so that neither a search of a million faces nor the reading of a gallery stops the
 * service. The process starts with the first search.
 */
export class SearchProcess implements GallerySearcher {
  readonly #options: SearchProcessOptions;
  #process: Program | undefined;
  #pending: readonly PendingSearch[] = [];
  #lastId = 0;
  #isClosed = false;
  /** Whether a process has exited unexpectedly and no other one has responded since. */
  #isLost = false;
  #size = EMPTY;
  #evictions = 0;
  #starts = 0;

  constructor(options: SearchProcessOptions) {
    this.#options = options;
  }

  /** The id of the process; undefined while there is none. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get state(): SearchState {
    return { ...this.#size, evictions: this.#evictions, restarts: Math.max(0, this.#starts - 1) };
  }

  async search(request: SearchRequest, signal: AbortSignal): Promise<SearchResult> {
    const startMs = performance.now();
    const report = (outcome: SearchOutcome) => this.#options.onSearch?.(outcome, performance.now() - startMs);
    try {
      const result = (await this.#send({ type: "search", request }, signal))!;
      report(result.isStale ? "stale" : "ok");
      return result;
    } catch (error) {
      report(signal.aborted ? "canceled" : error instanceof GalleryError ? "rejected" : "unavailable");
      throw error;
    }
  }

  async preload(count: number, signal: AbortSignal): Promise<void> {
    await this.#send({ type: "preload", count }, signal);
  }

  async sync(signal: AbortSignal): Promise<void> {
    await this.#send({ type: "sync" }, signal);
  }

  #send(task: Task, signal: AbortSignal): Promise<SearchResult | undefined> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#isClosed) throw new Error("No more galleries are searched.");
      const id = ++this.#lastId;
      const finish = () => {
        signal.removeEventListener("abort", abort);
        this.#pending = this.#pending.filter((other) => other !== pending);
      };
      const abort = () => {
        finish();
        this.#process?.send({ type: "cancel", id });
        reject(signal.reason);
      };
      const pending: PendingSearch = {
        id,
        settle: (response) => {
          finish();
          if (response instanceof Error) reject(response);
          else if (response.ok) resolve(response.result);
          else reject(deserializeFailure(response.error));
        },
      };
      signal.addEventListener("abort", abort, { once: true });
      this.#pending = [...this.#pending, pending];
      this.#process ??= this.#start();
      this.#process.send({ ...task, id });
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#process?.stop();
  }

  #start(): Program {
    const { onOutput, location, calibration, previousCalibration, templateKey } = this.#options;
    const { maxBytes, graceMs, maxWaitMs, marksSearched, milvus } = this.#options;
    let missedPings = 0;
    const child: Program = new ProgramProcess({
      program: compiledProgram("search-program", import.meta.url),
      onOutput,
      onMessage: (message) => {
        missedPings = 0;
        this.#receive(message, child);
      },
      onExit: (cause) => {
        clearInterval(watch);
        this.#handleExit(cause);
      },
    });
    this.#starts++;
    const watch = setInterval(() => {
      if (this.#pending.length === 0) missedPings = 0;
      else if (++missedPings > MAX_MISSED_PINGS) child.kill("it does not respond");
      else child.send({ type: "ping" });
    }, this.#options.pingIntervalMs ?? PING_INTERVAL_MS).unref();
    const limits = { maxBytes, graceMs, maxWaitMs, marksSearched, milvus };
    const settings = { location, calibration, previousCalibration, templateKey, ...limits };
    child.send({ type: "open", settings });
    return child;
  }

  #receive(message: SearchProcessMessage, child: Program): void {
    if (this.#isLost) {
      this.#isLost = false;
      this.#options.onReplacement?.();
    }
    if (message.type === "report") this.#take(message.report);
    else if (message.type === "due") this.#announce(message, child);
    else if (message.type === "expired") this.#options.onExpiry?.(message.expired);
    else if (message.type === "response")
      this.#pending.find(({ id }) => id === message.response.id)?.settle(message.response);
  }

  #announce({ id, due }: Extract<SearchProcessMessage, { type: "due" }>, child: Program): void {
    const remove = () => child.send({ type: "remove", id });
    const announced = this.#options.onDue?.(due) ?? Promise.resolve();
    announced.then(remove, remove);
  }

  #handleExit(cause: string): void {
    this.#process = undefined;
    this.#size = EMPTY;
    for (const pending of this.#pending)
      pending.settle(new Error(`The search process has ended (${cause}).`));
    if (this.#isClosed) return;
    this.#isLost = true;
    this.#options.onLoss(cause);
  }

  #take({ size, loads, reloads, evictions }: IndexesReport): void {
    this.#size = size;
    this.#evictions += evictions;
    for (const { outcome, durationMs } of loads) this.#options.onLoad?.(outcome, durationMs);
    for (const { galleryId, cause } of reloads) this.#options.onReload?.(galleryId, cause);
  }
}
