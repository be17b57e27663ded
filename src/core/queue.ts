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

/** What a queue may know of one who comes. */
export interface Claim {
  /** Aborting it means that the claim is no longer there. */
  readonly signal?: AbortSignal | undefined;
  /** Those of one caller wait behind each other, but not before those of others. */
  readonly caller?: string | undefined;
  /** When it is too late to be done, by `performance.now()`. */
  readonly deadlineMs?: number | undefined;
}

interface Waiting<Server> {
  readonly caller: string;
  serve(server: Server): void;
  refuse(error: QueueError): void;
}

/**
 * How many may wait for each server in a queue that stands: one that has not been empty for as long as these take.
 * Most bursts are gone by then, and so many callers who each send again when they are answered are all served; but
 * if more keep coming than are served, a longer queue would only make everyone wait.
 */
const STANDING_LIMIT = 4;

/** However fast jobs are, what comes within this time is a burst: callers who send at once do not arrive at once. */
const LEAST_STANDING_MS = 150;

/** How much the last job counts in the mean time of a job. */
const NEWEST_SHARE = 0.1;

/**
 * Servers and those who wait for one. Callers take turns, and each is served in the order of arrival. Only so
 * many may wait, fewer where the queue has not been empty for a while.
 */
export class Queue<Server> {
  readonly #limit: number;
  readonly #idle = new Set<Server>();
  /** Servers that are with someone, since when. */
  readonly #lent = new Map<Server, number>();
  // Maps and sets keep the order of arrival, and one can leave from the middle of them.
  readonly #waiting = new Map<string, Set<Waiting<Server>>>();
  #waitingCount = 0;
  #waitingSinceMs = 0;
  #meanJobMs = 0;
  #closed = false;
  readonly #whenAllAreBack: (() => void)[] = [];

  /** `limit` is how many may wait; those who are served at once do not count. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waitingCount;
  }

  /** How many servers are with someone. */
  get busy(): number {
    return this.#lent.size;
  }

  /**
   * Gives a server, which comes back through `offer`. Throws QueueError `overloaded` at once where no more may
   * wait or the turn would come too late, later where the place is needed for a caller with fewer, and the
   * signal's reason as soon as it is aborted.
   */
  async acquire({ signal, caller = "", deadlineMs }: Claim = {}): Promise<Server> {
    signal?.throwIfAborted();
    if (this.#closed) throw closedError();
    const [idle] = this.#idle;
    if (idle !== undefined) {
      this.#idle.delete(idle);
      this.#lent.set(idle, performance.now());
      return idle;
    }
    if (deadlineMs !== undefined && performance.now() + this.#expectedWaitMs() > deadlineMs)
      throw overloadedError(this.#waitingCount);
    if (!this.#hasPlaceFree) this.#makeRoomFor(caller);
    return this.#wait(caller, signal);
  }

  /** Whether `acquire` would not refuse one of this caller's now. */
  hasRoomFor(caller: string): boolean {
    return (
      this.#idle.size > 0 || this.#hasPlaceFree || this.#mostOfOneCaller().size > this.#countOf(caller) + 1
    );
  }

  /** Brings a new server, or one that has done its work: the next in line gets it. */
  offer(server: Server): void {
    this.#noteJob(server);
    const next = this.#next();
    if (next) {
      this.#lent.set(server, performance.now());
      next.serve(server);
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
    for (const ofCaller of this.#waiting.values())
      for (const waiting of ofCaller) waiting.refuse(closedError());
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

  get #hasPlaceFree(): boolean {
    return this.#waitingCount < this.#limitNow();
  }

  #limitNow(): number {
    const waitedMs = performance.now() - this.#waitingSinceMs;
    const standingMs = Math.max(LEAST_STANDING_MS, STANDING_LIMIT * this.#meanJobMs);
    const isStanding = this.#waitingCount > 0 && waitedMs > standingMs;
    return isStanding ? Math.min(this.#limit, STANDING_LIMIT * this.#serverCount) : this.#limit;
  }

  get #serverCount(): number {
    return this.#idle.size + this.#lent.size;
  }

  #expectedWaitMs(): number {
    const turns = (this.#waitingCount + 1) / Math.max(1, this.#serverCount);
    return turns * this.#meanJobMs;
  }

  #noteJob(server: Server): void {
    const sinceMs = this.#lent.get(server);
    if (sinceMs === undefined) return;
    const jobMs = performance.now() - sinceMs;
    this.#meanJobMs += (jobMs - this.#meanJobMs) * (this.#meanJobMs === 0 ? 1 : NEWEST_SHARE);
  }

  /** Refuses the last of the caller with the most, where that has more than this one would; else throws. */
  #makeRoomFor(caller: string): void {
    const most = this.#mostOfOneCaller();
    const error = overloadedError(this.#waitingCount);
    if (most.size <= this.#countOf(caller) + 1) throw error;
    [...most].at(-1)!.refuse(error);
  }

  #mostOfOneCaller(): ReadonlySet<Waiting<Server>> {
    return [...this.#waiting.values()].reduce(
      (one, other) => (other.size > one.size ? other : one),
      new Set<Waiting<Server>>(),
    );
  }

  #countOf(caller: string): number {
    return this.#waiting.get(caller)?.size ?? 0;
  }

  /** The first of the caller whose turn it is, who then is the last to have another turn. */
  #next(): Waiting<Server> | undefined {
    const [first] = this.#waiting;
    if (!first) return undefined;
    const [caller, ofCaller] = first;
    this.#waiting.delete(caller);
    this.#waiting.set(caller, ofCaller);
    const [next] = ofCaller;
    return next;
  }

  #wait(caller: string, signal: AbortSignal | undefined): Promise<Server> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#remove(waiting);
        signal?.removeEventListener("abort", abort);
      };
      const waiting: Waiting<Server> = {
        caller,
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
      this.#add(waiting);
      signal?.addEventListener("abort", abort);
    });
  }

  #add(waiting: Waiting<Server>): void {
    if (this.#waitingCount++ === 0) this.#waitingSinceMs = performance.now();
    const ofCaller = this.#waiting.get(waiting.caller) ?? new Set();
    this.#waiting.set(waiting.caller, ofCaller.add(waiting));
  }

  #remove(waiting: Waiting<Server>): void {
    const ofCaller = this.#waiting.get(waiting.caller);
    if (!ofCaller?.delete(waiting)) return;
    this.#waitingCount--;
    if (ofCaller.size === 0) this.#waiting.delete(waiting.caller);
  }
}

function closedError(): QueueError {
  return new QueueError("closed", "No more jobs are taken.");
}

function overloadedError(waiting: number): QueueError {
  return new QueueError("overloaded", `All workers are busy and ${waiting} jobs wait.`);
}
