import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { RoundRobin } from "../processes/round-robin.ts";
import { GalleryError } from "./gallery-store.ts";

interface Search {
  readonly caller: string;
  /** Runs the next scan. The search leaves the queue after its last one. */
  readonly runNext: () => void;
}

/**
 * Runs scans of galleries one after the other. Users are served in turn, so that a user with many searches does not hold
 * up the others, and messages are read between two scans.
 */
export class ScanQueue {
  readonly #maxWaitMs: number;
  readonly #searches = new RoundRobin<Search>();
  #isRunning = false;

  /** @param maxWaitMs how long the first scan of a search may wait. */
  constructor(maxWaitMs: number) {
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Runs the scans of one search and returns their results. A search that has started goes before the others of its
   * user. Throws GalleryError `overloaded` if the first scan has waited too long, and the signal's reason.
   */
  async runAll<Result>(
    user: string,
    scans: readonly (() => Result)[],
    signal?: AbortSignal,
  ): Promise<Result[]> {
    const startMs = performance.now();
    const results: Result[] = [];
    if (scans.length === 0) return results;
    return new Promise((resolve, reject) => {
      const runNext = () => {
        try {
          signal?.throwIfAborted();
          if (results.length === 0 && performance.now() - startMs > this.#maxWaitMs)
            throw new GalleryError("overloaded", "Too many searches of galleries are waiting.");
          results.push(scans[results.length]!());
          if (results.length < scans.length) return;
          resolve(results);
        } catch (error) {
          reject(error);
        }
        this.#searches.remove(search);
      };
      const search: Search = { caller: user, runNext };
      this.#searches.add(search);
      if (!this.#isRunning) this.#runWaiting().catch(reject);
    });
  }

  /** Runs the waiting scans until there are none. */
  async #runWaiting(): Promise<void> {
    this.#isRunning = true;
    for (let next = this.#searches.takeTurn(); next; next = this.#searches.takeTurn()) {
      next.runNext();
      await yieldToEventLoop();
    }
    this.#isRunning = false;
  }
}
