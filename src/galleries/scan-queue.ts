import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { GalleryError } from "./gallery-store.ts";

/**
 * Runs scans of galleries one after the other. Users are served in turn, so that a user with many searches does not hold
 * up the others, and messages are read between two scans.
 */
export class ScanQueue {
  readonly #maxWaitMs: number;
  /** Waiting scans by user. The order of the keys is the order of the turns. */
  readonly #waiting = new Map<string, (() => void)[]>();
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
    for (const scan of scans) {
      const isFirst = results.length === 0;
      const result = await this.#runInTurn(user, !isFirst, () => {
        signal?.throwIfAborted();
        if (isFirst && performance.now() - startMs > this.#maxWaitMs)
          throw new GalleryError("overloaded", "Too many searches of galleries are waiting.");
        return scan();
      });
      results.push(result);
    }
    return results;
  }

  #runInTurn<Result>(user: string, isUrgent: boolean, scan: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      const own = this.#waiting.get(user) ?? [];
      const run = () => {
        try {
          resolve(scan());
        } catch (error) {
          reject(error);
        }
      };
      if (isUrgent) own.unshift(run);
      else own.push(run);
      this.#waiting.set(user, own);
      if (!this.#isRunning) this.#runWaiting().catch(reject);
    });
  }

  /** Runs the waiting scans until there are none. */
  async #runWaiting(): Promise<void> {
    this.#isRunning = true;
    for (const [user, own] of this.#waiting) {
      // The user moves to the end, where this loop arrives again.
      this.#waiting.delete(user);
      const run = own.shift();
      if (own.length > 0) this.#waiting.set(user, own);
      run?.();
      await yieldToEventLoop();
    }
    this.#isRunning = false;
  }
}
