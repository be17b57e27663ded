import { ServiceError } from "../service/service-error.ts";

/** What a budget allows. */
export interface ByteBudgetOptions {
  /** For all bodies together. */
  readonly totalBytes: number;
  /** How long a body may wait for room before its request is rejected. */
  readonly maxWaitMs: number;
}

/** The bytes that one body is charged for. */
export interface BodyLease {
  /**
   * Charges more bytes: true at once where there is room, otherwise a promise of it. The caller reads no further until
   * then. Rejects with ServiceError where there is no room in time, and with the reason of the signal.
   */
  charge(bytes: number, signal: AbortSignal): true | Promise<void>;
  /** The body has been read: it no longer waits for room, and cannot be evicted. */
  complete(): void;
  /** Gives everything back. Does nothing the second time. */
  release(): void;
}

interface Waiting {
  readonly lease: Lease;
  readonly bytes: number;
  admit(): void;
  reject(error: ServiceError): void;
}

/**
 * Bounds the memory of request bodies. When it is full, bodies wait (their readers stop reading, and flow control
 * stops the client), the oldest unfinished body always proceeds so that bodies cannot wait for each other for ever,
 * and a body that has waited too long is rejected. While users wait for room, none keeps more than an equal share:
 * the newest unfinished body of the user that holds most is evicted for a user that holds less.
 */
export class ByteBudget {
  readonly #options: ByteBudgetOptions;
  /** Unfinished bodies, oldest first. */
  #reading: Lease[] = [];
  #waiting: Waiting[] = [];
  readonly #usedBy = new Map<string, number>();
  #used = 0;

  constructor(options: ByteBudgetOptions) {
    this.#options = options;
  }

  get usedBytes(): number {
    return this.#used;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Whether a body of this user would have to wait behind others that wait already, with no share left. */
  isClosedFor(user: string): boolean {
    return this.#waiting.length > 0 && (this.#usedBy.get(user) ?? 0) >= this.#shareWith(user);
  }

  /** `onEvict` is called when the body must give its bytes back before it has been read; its lease is released then. */
  open(user: string, onEvict: (error: ServiceError) => void): BodyLease {
    const lease = new Lease(user, this, onEvict);
    this.#reading.push(lease);
    return lease;
  }

  charge(lease: Lease, bytes: number, signal: AbortSignal): true | Promise<void> {
    // Newcomers do not overtake bodies that wait.
    const hasRoom = this.#waiting.length === 0 && this.#hasRoomFor(bytes);
    if (!hasRoom && this.#reading[0] !== lease) return this.#wait(lease, bytes, signal);
    this.#add(lease, bytes);
    return true;
  }

  complete(lease: Lease): void {
    this.#reading = this.#reading.filter((other) => other !== lease);
    this.#admitWaiting();
  }

  release(lease: Lease): void {
    for (const waiting of this.#waiting) if (waiting.lease === lease) waiting.reject(inFlightError());
    this.#reading = this.#reading.filter((other) => other !== lease);
    this.#add(lease, -lease.bytes);
    this.#admitWaiting();
  }

  #hasRoomFor(bytes: number): boolean {
    return this.#used + bytes <= this.#options.totalBytes;
  }

  #add(lease: Lease, bytes: number): void {
    lease.bytes += bytes;
    this.#used += bytes;
    const used = (this.#usedBy.get(lease.user) ?? 0) + bytes;
    if (used > 0) this.#usedBy.set(lease.user, used);
    else this.#usedBy.delete(lease.user);
  }

  #wait(lease: Lease, bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        settle();
      };
      const waiting: Waiting = {
        lease,
        bytes,
        admit: () => finish(resolve),
        reject: (error) => finish(() => reject(error)),
      };
      const abort = () => finish(() => reject(signal.reason));
      const timer = setTimeout(() => waiting.reject(this.#rejectionOf(lease)), this.#options.maxWaitMs);
      signal.addEventListener("abort", abort, { once: true });
      this.#waiting.push(waiting);
      this.#admitWaiting();
      this.#makeRoomFor(waiting);
    });
  }

  /** Rejects bodies of users that hold more than their share, newest first, until there is room. */
  #makeRoomFor(waiting: Waiting): void {
    const { lease, bytes } = waiting;
    const share = this.#shareWith(lease.user);
    if ((this.#usedBy.get(lease.user) ?? 0) + bytes > share) return;
    // Each eviction admits bodies that wait, this one among them once there is room for it.
    while (this.#waiting.includes(waiting)) {
      const victim = this.#newestOfHeaviest(lease.user, share);
      if (!victim) return;
      victim.evict();
    }
  }

  #newestOfHeaviest(besides: string, share: number): Lease | undefined {
    const over = this.#reading.filter(
      ({ user, bytes }) => user !== besides && bytes > 0 && this.#usedBy.get(user)! > share,
    );
    const most = Math.max(...over.map(({ user }) => this.#usedBy.get(user)!));
    return over.findLast(({ user }) => this.#usedBy.get(user) === most);
  }

  /** What each user may hold while users wait. */
  #shareWith(user: string): number {
    const users = new Set([...this.#usedBy.keys(), ...this.#waiting.map(({ lease }) => lease.user), user]);
    return this.#options.totalBytes / users.size;
  }

  #rejectionOf({ user }: Lease): ServiceError {
    const isOwnFault = (this.#usedBy.get(user) ?? 0) > this.#options.totalBytes / 2;
    return isOwnFault ? inFlightError() : new ServiceError("overloaded");
  }

  #admitWaiting(): void {
    for (const waiting of this.#waiting.toSorted((one, other) => this.#ageOf(one) - this.#ageOf(other))) {
      if (!this.#hasRoomFor(waiting.bytes) && this.#reading[0] !== waiting.lease) continue;
      this.#add(waiting.lease, waiting.bytes);
      waiting.admit();
    }
  }

  #ageOf({ lease }: Waiting): number {
    return this.#reading.indexOf(lease);
  }
}

class Lease implements BodyLease {
  readonly user: string;
  readonly #budget: ByteBudget;
  readonly #onEvict: (error: ServiceError) => void;
  bytes = 0;
  #isReleased = false;

  constructor(user: string, budget: ByteBudget, onEvict: (error: ServiceError) => void) {
    this.user = user;
    this.#budget = budget;
    this.#onEvict = onEvict;
  }

  charge(bytes: number, signal: AbortSignal): true | Promise<void> {
    if (this.#isReleased) return Promise.reject(inFlightError());
    return this.#budget.charge(this, bytes, signal);
  }

  complete(): void {
    this.#budget.complete(this);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#budget.release(this);
  }

  evict(): void {
    this.release();
    this.#onEvict(inFlightError());
  }
}

function inFlightError(): ServiceError {
  return new ServiceError("tooManyInFlight", "The request bodies of this user take too much memory at once.");
}
