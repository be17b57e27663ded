import { setTimeout as sleep } from "node:timers/promises";
import type { GalleryStore } from "./gallery-store.ts";

const INTERVAL_MS = 60_000;

/** Options of the sweep. */
export interface ExpirySweepOptions {
  /** Called when a sweep has failed. The next one tries again. */
  readonly onError: (cause: unknown) => void;
  /** A minute by default. */
  readonly intervalMs?: number;
}

/** Removes what has expired in galleries that nobody reads: now and in intervals, until it is closed. */
export class ExpirySweep {
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(store: Pick<GalleryStore, "removeExpired">, options: ExpirySweepOptions) {
    this.#running = this.#run(store, options);
  }

  /** Stops after the transaction that is running. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(
    store: Pick<GalleryStore, "removeExpired">,
    { onError, intervalMs = INTERVAL_MS }: ExpirySweepOptions,
  ): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await store.removeExpired(signal).catch((error: unknown) => {
        if (!signal.aborted) onError(error);
      });
      await sleep(intervalMs, undefined, { signal }).catch(() => {});
    }
  }
}
