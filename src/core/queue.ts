import { type OpenTurn, type Turn, Turns } from "./turns.ts";
import { WaitingLine } from "./waiting-line.ts";

export type { Turn } from "./turns.ts";

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
  /** Its turn was taken back, so it comes before all others and is not refused. */
  readonly again?: boolean;
}

interface Waiting<Server> {
  readonly caller: string;
  readonly again: boolean;
  serve(turn: Turn<Server>): void;
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
 *
 * While more wait than there are servers, a busy one is given its next turn ahead, so that it need not stand still
 * from the end of one to the beginning of the next: a processor that has nothing to do for a moment may be away for
 * longer where it is shared. Such a turn still counts as waiting, and is taken back where it would be unfair or would
 * have to wait for a server that is slow.
 */
export class Queue<Server> {
  readonly #limit: number;
  readonly #takeBack: (server: Server) => void;
  readonly #idle = new Set<Server>();
  readonly #turns = new Turns<Server>();
  readonly #line = new WaitingLine<Waiting<Server>>();
  #waitingSinceMs = 0;
  #meanJobMs = 0;
  #closed = false;
  readonly #whenAllAreBack: (() => void)[] = [];

  /**
   * `limit` is how many may wait; those who are served at once do not count. `takeBack` has a server give up the last
   * turn that it was given, if it has not begun: who had it ends the turn, and acquires another, `again`.
   */
  constructor(limit: number, takeBack: (server: Server) => void) {
    this.#limit = limit;
    this.#takeBack = takeBack;
  }

  /** How many wait, also for turns that they were given ahead. */
  get waiting(): number {
    return this.#line.count + this.#turns.ahead().length;
  }

  /** How many servers are with someone. */
  get busy(): number {
    return this.#turns.busy;
  }

  /**
   * Gives a turn, which is to be ended by `end`. Throws QueueError `overloaded` at once where no more may wait or the
   * turn would come too late, later where the place is needed for a caller with fewer, and the signal's reason as
   * soon as it is aborted.
   */
  async acquire({ signal, caller = "", deadlineMs, again = false }: Claim = {}): Promise<Turn<Server>> {
    signal?.throwIfAborted();
    if (this.#closed) throw closedError();
    const [idle] = this.#idle;
    if (idle !== undefined) return this.#turnOf(idle, caller, again);
    if (!again) this.#requireRoomFor(caller, deadlineMs);
    return this.#wait(caller, again, signal);
  }

  /** Whether `acquire` would not refuse one of this caller's now. */
  hasRoomFor(caller: string): boolean {
    return this.#idle.size > 0 || this.#hasPlaceFree || this.#heaviestBeside(caller) !== undefined;
  }

  /** Brings a server that has nothing to do: the next in line gets it. */
  offer(server: Server): void {
    const next = this.#line.next();
    if (next) {
      this.#serve(next, server);
    } else {
      this.#idle.add(server);
      // It would have to wait for the end of a turn, while this server has nothing to do.
      const [ahead] = this.#turns.ahead();
      if (ahead) this.#takeTurnBack(ahead);
    }
  }

  /** Ends a turn, begun or taken back before: the server goes on with the next. */
  end(turn: Turn<Server>): void {
    const ended = this.#turns.end(turn);
    if (!ended) return;
    if (!this.#turns.has(ended.server)) this.offer(ended.server);
    if (ended.beganMs !== undefined) {
      this.#noteJob(performance.now() - ended.beganMs);
      for (const slower of this.#turns.slowerThan(ended)) this.#takeTurnBack(slower);
    }
    this.#giveAhead();
    this.#tellIfAllAreBack();
  }

  /** Takes a server away for good, idle or lent. */
  withdraw(server: Server): void {
    this.#idle.delete(server);
    this.#turns.forget(server);
    this.#tellIfAllAreBack();
  }

  /** Refuses those who wait and all who come later; resolves when no server is with anyone. */
  close(): Promise<void> {
    this.#closed = true;
    for (const waiting of [...this.#line]) waiting.refuse(closedError());
    return new Promise((resolve) => {
      this.#whenAllAreBack.push(resolve);
      this.#tellIfAllAreBack();
    });
  }

  #tellIfAllAreBack(): void {
    if (this.busy > 0) return;
    for (const resolve of this.#whenAllAreBack.splice(0)) resolve();
  }

  #serve(waiting: Waiting<Server>, server: Server): void {
    waiting.serve(this.#turnOf(server, waiting.caller, waiting.again));
  }

  #turnOf(server: Server, caller: string, again: boolean): Turn<Server> {
    this.#idle.delete(server);
    return this.#turns.give(server, caller, again);
  }

  #giveAhead(): void {
    for (const server of this.#turns.withNoneAhead()) {
      if (this.#line.count <= this.#serverCount) return;
      this.#serve(this.#line.next()!, server);
    }
  }

  #takeTurnBack(turn: OpenTurn<Server>): void {
    if (this.#closed) return;
    turn.isTakenBack = true;
    this.#takeBack(turn.server);
  }

  /**
   * Where all others who wait are of one caller, gives a newcomer the place of a turn that was given ahead to that one:
   * it would have had to wait for both, as it came too late to be the next. None gives way twice.
   */
  #makeWayFor(waiting: Waiting<Server>): void {
    const [other, ...more] = this.#line.callers.filter((caller) => caller !== waiting.caller);
    if (other === undefined || more.length > 0 || this.#counter()(waiting.caller) > 1) return;
    const inTheWay = this.#turns.ahead().find(({ caller, hasGivenWay }) => caller === other && !hasGivenWay);
    if (!inTheWay) return;
    this.#takeTurnBack(inTheWay);
    this.#line.remove(waiting);
    this.#serve(waiting, inTheWay.server);
  }

  #requireRoomFor(caller: string, deadlineMs: number | undefined): void {
    if (deadlineMs !== undefined && performance.now() + this.#expectedWaitMs() > deadlineMs)
      throw overloadedError(this.waiting);
    if (this.#hasPlaceFree) return;
    const heaviest = this.#heaviestBeside(caller);
    const error = overloadedError(this.waiting);
    if (heaviest === undefined) throw error;
    this.#line.lastOf(heaviest)!.refuse(error);
  }

  /** The caller of whom most wait, where that is more than it would be of this one. */
  #heaviestBeside(caller: string): string | undefined {
    const countOf = this.#counter();
    const heaviest = this.#line.callers.reduce(
      (one, other) => (countOf(other) > countOf(one) ? other : one),
      caller,
    );
    return countOf(heaviest) > countOf(caller) + 1 ? heaviest : undefined;
  }

  /** Tells how many of a caller's wait, also for turns that they were given ahead. */
  #counter(): (caller: string) => number {
    const ahead = this.#turns.ahead().map((turn) => turn.caller);
    return (caller) => this.#line.countOf(caller) + ahead.filter((other) => other === caller).length;
  }

  get #hasPlaceFree(): boolean {
    return this.waiting < this.#limitNow();
  }

  #limitNow(): number {
    const waitedMs = performance.now() - this.#waitingSinceMs;
    const standingMs = Math.max(LEAST_STANDING_MS, STANDING_LIMIT * this.#meanJobMs);
    const isStanding = this.#line.count > 0 && waitedMs > standingMs;
    return isStanding ? Math.min(this.#limit, STANDING_LIMIT * this.#serverCount) : this.#limit;
  }

  get #serverCount(): number {
    return this.#idle.size + this.busy;
  }

  #expectedWaitMs(): number {
    const turns = (this.waiting + 1) / Math.max(1, this.#serverCount);
    return turns * this.#meanJobMs;
  }

  #noteJob(jobMs: number): void {
    this.#meanJobMs += (jobMs - this.#meanJobMs) * (this.#meanJobMs === 0 ? 1 : NEWEST_SHARE);
  }

  #wait(caller: string, again: boolean, signal: AbortSignal | undefined): Promise<Turn<Server>> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#line.remove(waiting);
        signal?.removeEventListener("abort", abort);
      };
      const waiting: Waiting<Server> = {
        caller,
        again,
        serve: (turn) => {
          leave();
          resolve(turn);
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
      if (this.#line.count === 0) this.#waitingSinceMs = performance.now();
      if (again) this.#line.addFirst(waiting);
      else this.#line.add(waiting);
      signal?.addEventListener("abort", abort);
      this.#makeWayFor(waiting);
      this.#giveAhead();
    });
  }
}

function closedError(): QueueError {
  return new QueueError("closed", "No more jobs are taken.");
}

function overloadedError(waiting: number): QueueError {
  return new QueueError("overloaded", `All workers are busy and ${waiting} jobs wait.`);
}
