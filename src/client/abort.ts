/** Settles like the promise, but rejects with the reason of the signal as soon as that is aborted. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** Waits. Rejects with the reason of the signal as soon as that is aborted. */
export async function sleep(durationMs: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, durationMs);
  });
  try {
    await untilAborted(elapsed, signal);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Listens to signals with one listener each, however many calls share a signal: Node warns of a memory leak when a
 * signal has more than ten.
 */
export class SharedAbortListeners {
  readonly #callbacks = new Map<AbortSignal, Set<() => void>>();

  /** Calls a function when the signal is aborted, at once if it is already. Returns a function that stops listening. */
  add(signal: AbortSignal, callback: () => void): () => void {
    if (signal.aborted) {
      callback();
      return () => {};
    }
    const callbacks = this.#callbacks.get(signal) ?? this.#listenTo(signal);
    callbacks.add(callback);
    return () => {
      callbacks.delete(callback);
      if (callbacks.size > 0) return;
      this.#callbacks.delete(signal);
      signal.removeEventListener("abort", this.#onAbort);
    };
  }

  #listenTo(signal: AbortSignal): Set<() => void> {
    const callbacks = new Set<() => void>();
    this.#callbacks.set(signal, callbacks);
    signal.addEventListener("abort", this.#onAbort);
    return callbacks;
  }

  readonly #onAbort = ({ target }: Event) => {
    for (const callback of this.#callbacks.get(target as AbortSignal) ?? []) callback();
  };
}
