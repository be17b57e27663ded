import { setTimeout as sleep } from "node:timers/promises";

/** How long a caller waits until the engine has what was changed before. */
const WAIT_MS = 2_000;
const INTERVAL_MS = 1_000;

/** Called about a synchronization that fails. */
export interface EngineSyncOptions {
  /** Called once, when the engine cannot be brought up to date. */
  readonly onOutage: (cause: unknown) => void;
  /** Called once, when it is up to date again. */
  readonly onRecovery: () => void;
}

/** Brings the engine that searches galleries to the state of the database: every second, until it is closed. */
export class EngineSync {
  readonly #sync: (signal: AbortSignal) => Promise<void>;
  readonly #options: EngineSyncOptions;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  /** Ends the pause between two synchronizations. */
  #wake = new AbortController();
  /** How many synchronizations were wanted, and how many of them have succeeded. */
  #wanted = 0;
  #finished = 0;
  #isFailing = false;
  /** Ends with the last attempt. */
  #attempt: Promise<void> = Promise.resolve();

  /** `sync` brings the engine up to date once. */
  constructor(sync: (signal: AbortSignal) => Promise<void>, options: EngineSyncOptions) {
    this.#sync = sync;
    this.#options = options;
    this.#running = this.#run();
  }

  /**
   * Waits until the engine has what was changed before, by default two seconds, or not at all while it cannot be brought
   * up to date. Returns whether it has. Never rejects.
   */
  async wait(maxMs = WAIT_MS): Promise<boolean> {
    const wanted = ++this.#wanted;
    this.#wake.abort();
    const endMs = performance.now() + (this.#isFailing ? 0 : maxMs);
    const timer = new AbortController();
    while (this.#finished < wanted && !this.#isFailing && performance.now() < endMs)
      await Promise.race([this.#attempt, pause(endMs - performance.now(), timer.signal)]);
    timer.abort();
    return this.#finished >= wanted;
  }

  /** Stops after the gallery that is being written. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      this.#attempt = this.#tryOnce(signal);
      await this.#attempt;
      if (this.#finished < this.#wanted && !this.#isFailing) continue;
      await pause(INTERVAL_MS, this.#wake.signal);
    }
  }

  /** Never rejects. */
  async #tryOnce(signal: AbortSignal): Promise<void> {
    const wanted = this.#wanted;
    try {
      await this.#sync(signal);
      this.#finished = wanted;
      if (this.#isFailing) this.#options.onRecovery();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing && !signal.aborted) this.#options.onOutage(error);
      this.#isFailing = true;
    }
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(1, milliseconds), undefined, { signal }).catch(() => {});
}
