/** The first limit. It grows with every accepted call. */
const INITIAL_LIMIT = 8;

/** A call that waits for its slot. */
interface Waiter {
  /** Older calls have lower numbers. */
  readonly order: number;
  start(): void;
}

/**
 * Limits the calls in flight. Calls get their slots in the order of their requests. The limit adapts to the service
 * between 1 and `max`: it grows by one with every accepted call, and is halved by every rejected one.
 */
export class InFlightLimit {
  readonly #max: number;
  #limit: number;
  #inFlight = 0;
  #nextOrder = 0;
  /** Rejected calls, the oldest first. They precede the new ones. */
  readonly #rejected: Waiter[] = [];
  /** New calls, the oldest first. */
  readonly #new = new Set<Waiter>();
  /** While it is set, no call starts. */
  #pause: ReturnType<typeof setTimeout> | undefined;

  constructor(max: number) {
    this.#max = max;
    this.#limit = Math.min(max, INITIAL_LIMIT);
  }

  /** Resolves when the call has a slot, which it must release. Rejects with the reason of the signal. */
  async acquire(signal: AbortSignal): Promise<Slot> {
    const order = this.#nextOrder++;
    await this.#wait(order, signal, (waiter) => {
      this.#new.add(waiter);
      return () => this.#new.delete(waiter);
    });
    let isHeld = true;
    const release = () => {
      if (isHeld) this.#inFlight--;
      isHeld = false;
      this.#startWaiting();
    };
    return {
      release,
      accept: () => {
        this.#limit = Math.min(this.#max, this.#limit + 1);
        this.#startWaiting();
      },
      reject: async (delayMs) => {
        this.#limit = Math.max(1, Math.floor(this.#limit / 2));
        this.#pauseFor(delayMs);
        release();
        await this.#wait(order, signal, (waiter) => this.#addRejected(waiter));
        isHeld = true;
      },
    };
  }

  /** Waits for a slot in a queue. `enqueue` returns a function that leaves the queue. */
  #wait(order: number, signal: AbortSignal, enqueue: (waiter: Waiter) => () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const abort = () => {
        leave();
        // A timer that nobody waits for would keep the process alive.
        if (this.#rejected.length + this.#new.size === 0) this.#endPause();
        reject(signal.reason);
      };
      const start = () => {
        signal.removeEventListener("abort", abort);
        resolve();
      };
      const leave = enqueue({ order, start });
      signal.addEventListener("abort", abort, { once: true });
      this.#startWaiting();
    });
  }

  #addRejected(waiter: Waiter): () => void {
    const newer = this.#rejected.findIndex(({ order }) => order > waiter.order);
    this.#rejected.splice(newer < 0 ? this.#rejected.length : newer, 0, waiter);
    return () => this.#rejected.splice(this.#rejected.indexOf(waiter), 1);
  }

  #pauseFor(delayMs: number): void {
    this.#endPause();
    this.#pause = setTimeout(() => {
      this.#endPause();
      this.#startWaiting();
    }, delayMs);
  }

  #endPause(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
  }

  #startWaiting(): void {
    while (this.#pause === undefined && this.#inFlight < this.#limit) {
      const next = this.#rejected.shift() ?? firstOf(this.#new);
      if (!next) return;
      this.#new.delete(next);
      this.#inFlight++;
      next.start();
    }
  }
}

/** The right of a call to be in flight. */
export interface Slot {
  /** Reports that the service accepted the call. */
  accept(): void;
  /**
   * Reports that the service rejected the call because of overload or a rate limit. Gives the slot back and lets no call
   * start for a delay. Resolves when the call has a slot again. Rejects with the reason of the call's signal.
   */
  reject(delayMs: number): Promise<void>;
  /** Gives the slot back, if the call has it. */
  release(): void;
}

function firstOf<T>(values: ReadonlySet<T>): T | undefined {
  for (const value of values) return value;
  return undefined;
}
