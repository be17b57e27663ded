/** Why a queue or the workers behind it did not do a job; the job itself is not at fault. */
export type QueueErrorKind = "overloaded" | "workerLost" | "closed";

/** A job that was not done: too many wait already, its worker died, or no more are taken. */
export class QueueError extends Error {
  override readonly name = "QueueError";
  readonly kind: QueueErrorKind;

  constructor(kind: QueueErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

interface Waiting<Server> {
  serve(server: Server): void;
  refuse(error: QueueError): void;
}

/** Servers and those who wait for one: first come, first served, and only so many may wait. */
export class Queue<Server> {
  readonly #limit: number;
  readonly #idle = new Set<Server>();
  readonly #lent = new Set<Server>();
  // A set keeps the order of arrival, and one can leave from the middle of it.
  readonly #waiting = new Set<Waiting<Server>>();
  #closed = false;
  readonly #whenAllAreBack: (() => void)[] = [];

  /** `limit` is how many may wait; those who are served at once do not count. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** How many servers are with someone. */
  get busy(): number {
    return this.#lent.size;
  }

  /**
   * Gives a server, which comes back through `offer`. Throws QueueError `overloaded` at once where no
   * more may wait, and the signal's reason as soon as it is aborted.
   */
  async acquire(signal?: AbortSignal): Promise<Server> {
    signal?.throwIfAborted();
    if (this.#closed) throw closedError();
    const [idle] = this.#idle;
    if (idle !== undefined) {
      this.#idle.delete(idle);
      this.#lent.add(idle);
      return idle;
    }
    if (this.#waiting.size >= this.#limit) {
      throw new QueueError("overloaded", `All workers are busy and ${this.#waiting.size} jobs wait.`);
    }
    return this.#wait(signal);
  }

  /** Brings a new server, or one that has done its work: the first in line gets it. */
  offer(server: Server): void {
    const [first] = this.#waiting;
    if (first) {
      this.#lent.add(server);
      first.serve(server);
    } else {
      this.#idle.add(server);
      this.#takeBack(server);
    }
  }

  /** Takes a server away for good, idle or lent. */
  withdraw(server: Server): void {
    this.#idle.delete(server);
    this.#takeBack(server);
  }

  /** Refuses those who wait and all who come later; resolves when no server is with anyone. */
  close(): Promise<void> {
    this.#closed = true;
    for (const waiting of this.#waiting) waiting.refuse(closedError());
    return new Promise((resolve) => {
      if (this.#lent.size === 0) resolve();
      else this.#whenAllAreBack.push(resolve);
    });
  }

  #takeBack(server: Server): void {
    this.#lent.delete(server);
    if (this.#lent.size > 0) return;
    for (const resolve of this.#whenAllAreBack.splice(0)) resolve();
  }

  #wait(signal: AbortSignal | undefined): Promise<Server> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(waiting);
        signal?.removeEventListener("abort", abort);
      };
      const waiting: Waiting<Server> = {
        serve: (server) => {
          leave();
          resolve(server);
        },
        refuse: (error) => {
          leave();
          reject(error);
        },
      };
      const abort = () => {
        leave();
        reject(signal?.reason);
      };
      this.#waiting.add(waiting);
      signal?.addEventListener("abort", abort);
    });
  }
}

function closedError(): QueueError {
  return new QueueError("closed", "No more jobs are taken.");
}
