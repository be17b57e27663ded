/** A request whose head has been received. */
export interface ReceivedRequest {
  /** Whether the client has left. Such a request is dropped. */
  readonly isGone: () => boolean;
  readonly start: () => void;
}

/** Requests that start in one turn of the event loop: a few milliseconds of work. */
const MAX_STARTS = 16;

/**
 * Starts a bounded number of requests in each turn of the event loop, however many arrive in one packet. The others
 * wait: connections take turns, and the requests of one connection start in order.
 */
export class RequestStarts {
  readonly #waiting = new Map<object, ReceivedRequest[]>();
  /** In the current turn. */
  #started = 0;

  /** Starts a request now or in a later turn. */
  add(connection: object, request: ReceivedRequest): void {
    const waiting = this.#waiting.get(connection);
    if (waiting) waiting.push(request);
    else if (this.#started < MAX_STARTS) this.#start(request);
    else this.#waiting.set(connection, [request]);
  }

  #start(request: ReceivedRequest): void {
    if (request.isGone()) return;
    if (this.#started === 0) setImmediate(this.#beginTurn);
    this.#started++;
    request.start();
  }

  readonly #beginTurn = (): void => {
    this.#started = 0;
    // A connection with more requests is added again at the end, and the loop returns to it.
    for (const [connection, requests] of this.#waiting) {
      if (this.#started === MAX_STARTS) return;
      const next = requests.shift()!;
      this.#waiting.delete(connection);
      if (requests.length > 0) this.#waiting.set(connection, requests);
      this.#start(next);
    }
  };
}
