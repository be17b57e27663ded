import { setTimeout as sleep } from "node:timers/promises";
import { deleteHiddenGalleries } from "./delete-galleries.ts";
import type { Deletion, ErasureCallbacks, SqlDatabase } from "./sql-database.ts";

type Database = Pick<SqlDatabase, "query" | "runTransaction">;

/** How long a caller waits for an erasure, and how long one may fail before it counts as delayed. */
const WAIT_MS = 2_000;
const RETRY_PAUSE_MS = 50;
const LONG_RETRY_PAUSE_MS = 1_000;

/**
 * Erases what was deleted, in the background. An attempt that fails is repeated until it succeeds or the database is
 * closed. The next start of the service erases what is left.
 */
export class Erasure {
  readonly #database: Database;
  readonly #eraseFiles: () => Promise<void>;
  readonly #callbacks: ErasureCallbacks;
  readonly #closing = new AbortController();
  /** How many erasures were started, and how many of them are finished. */
  #started = 0;
  #finished = 0;
  /** Ends with the last attempt, or the pause after it. */
  #attempt: Promise<void> = Promise.resolve();
  #running: Promise<void> | undefined;
  #hasHiddenGalleries = false;
  #isDelayed = false;

  /** `eraseFiles` erases deleted rows from the files of the database. */
  constructor(database: Database, eraseFiles: () => Promise<void>, callbacks: ErasureCallbacks) {
    this.#database = database;
    this.#eraseFiles = eraseFiles;
    this.#callbacks = callbacks;
  }

  /** Whether an erasure has failed for a while and is not finished. */
  get isDelayed(): boolean {
    return this.#isDelayed;
  }

  /** Starts an erasure. One that is running may have missed the last deletion, so another one follows it. */
  start(deletion: Deletion): void {
    this.#started++;
    if (deletion === "galleries") this.#hasHiddenGalleries = true;
    this.#running ??= this.#run();
  }

  /**
   * Waits until what was deleted before is erased, by default two seconds, or not at all if that is delayed. Returns
   * whether it is. Never rejects.
   */
  async wait(maxMs = this.#isDelayed ? 0 : WAIT_MS): Promise<boolean> {
    const wanted = this.#started;
    const endMs = performance.now() + maxMs;
    const timer = new AbortController();
    const timeout = Number.isFinite(maxMs) ? [pause(maxMs, timer.signal)] : [];
    while (this.#finished < wanted && performance.now() < endMs && !this.#closing.signal.aborted)
      await Promise.race([this.#attempt, ...timeout]);
    timer.abort();
    return this.#finished >= wanted;
  }

  /** Stops at the next statement. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const startMs = performance.now();
    while (this.#finished < this.#started && !this.#closing.signal.aborted) {
      this.#attempt = this.#tryOnce(performance.now() - startMs > WAIT_MS);
      await this.#attempt;
    }
    // Not later, because an erasure that starts then would wait for the next one.
    this.#running = undefined;
  }

  /** Never rejects. An error is reported if `isLate`. */
  async #tryOnce(isLate: boolean): Promise<void> {
    const { signal } = this.#closing;
    const { onErasureDelay, onErasureEnd } = this.#callbacks;
    const started = this.#started;
    try {
      await this.#eraseAll(signal);
      this.#finished = started;
      if (this.#isDelayed) onErasureEnd?.();
      this.#isDelayed = false;
    } catch (error) {
      if (isLate && !this.#isDelayed && !signal.aborted) {
        this.#isDelayed = true;
        onErasureDelay?.(error);
      }
      await pause(this.#isDelayed ? LONG_RETRY_PAUSE_MS : RETRY_PAUSE_MS, signal);
    }
  }

  async #eraseAll(signal: AbortSignal): Promise<void> {
    if (this.#hasHiddenGalleries) {
      this.#hasHiddenGalleries = false;
      await deleteHiddenGalleries(stopAt(signal, this.#database)).catch((error: unknown) => {
        this.#hasHiddenGalleries = true;
        throw error;
      });
    }
    await this.#eraseFiles();
  }
}

/** A database that starts no more statements when the signal is aborted. */
function stopAt(signal: AbortSignal, database: Database): Database {
  return {
    query: async (statement) => {
      signal.throwIfAborted();
      return database.query(statement);
    },
    runTransaction: async (script) => {
      signal.throwIfAborted();
      return database.runTransaction(script);
    },
  };
}

/** Waits for a time, or until the signal is aborted. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => {});
}
