/** Counts the requests that wait for a connection to an origin, such as `http://example.org`. */
export class Waiters {
  readonly #byOrigin = new Map<string, { count: number; readonly left: AbortController }>();

  /** Adds a request, and returns the function that removes it again. */
  add(origin: string): () => void {
    let entry = this.#byOrigin.get(origin);
    if (!entry) {
      entry = { count: 0, left: new AbortController() };
      this.#byOrigin.set(origin, entry);
    }
    const { left } = entry;
    entry.count++;
    return () => {
      if (--entry.count > 0) return;
      this.#byOrigin.delete(origin);
      left.abort(new Error(`nobody waits for ${origin} any longer`));
    };
  }

  /** A signal that is aborted when the last request has left; undefined if there is none. */
  signalOf(origin: string): AbortSignal | undefined {
    return this.#byOrigin.get(origin)?.left.signal;
  }
}
