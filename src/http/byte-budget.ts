import { ServiceError } from "../service/service-error.ts";

/** Options of a byte budget. */
export interface ByteBudgetOptions {
  /** The limit for all bodies together. */
  readonly totalBytes: number;
  /** How long a body may wait for room before its request is rejected. */
  readonly maxWaitMs: number;
}

/** The bytes that one body holds of the budget. */
export interface BodyLease {
  /**
   * Charges more bytes. Returns true if there is room, otherwise a promise that resolves when there is; the caller must
   * not read on before. Rejects with ServiceError if there is no room in time, and with the signal's reason.
   */
  charge(bytes: number, signal: AbortSignal): true | Promise<void>;
  /** Marks the body as read: it can no longer be evicted. */
  complete(): void;
  /** Frees all bytes. Does nothing the second time. */
  release(): void;
}

/** A charge that waits for room. */
interface PendingCharge {
  readonly lease: Lease;
  readonly bytes: number;
  admit(): void;
  reject(error: ServiceError): void;
}

/**
 * Bounds the memory of request bodies. When the budget is full:
 * - bodies wait; their readers stop reading, and flow control stops the clients;
 * - the oldest unfinished body always proceeds, so that bodies cannot deadlock;
 * - a body that has waited too long is rejected;
 * - no user keeps more than an equal share while others wait: the newest unfinished bodies of the user that holds most
 *   are evicted for a user that holds less than its share.
 *
 * Messages of streams may be held for long, because they wait where a request is rejected. So all streams of one user
 * together get at most half of the budget, and the oldest message proceeds beyond a limit only while no finished one will
 * free memory.
 */
export class ByteBudget {
  readonly #options: ByteBudgetOptions;
  /** Unfinished bodies, oldest first. */
  #unfinished: Lease[] = [];
  #pending: PendingCharge[] = [];
  readonly #usedBy = new Map<string, number>();
  #used = 0;

  constructor(options: ByteBudgetOptions) {
    this.#options = options;
  }

  get usedBytes(): number {
    return this.#used;
  }

  /** The number of bodies that wait for room. */
  get waiting(): number {
    return this.#pending.length;
  }

  /** Whether bodies wait and this user has used up its share, so that a new body of it would only wait as well. */
  isClosedFor(user: string): boolean {
    return this.#pending.length > 0 && (this.#usedBy.get(user) ?? 0) >= this.#shareWith(user);
  }

  /**
   * Opens the lease of a new body, or of a message of a stream. `onEvict` is called after the lease was released to make
   * room for another user.
   */
  open(user: string, onEvict: (error: ServiceError) => void, isMessage = false): BodyLease {
    const lease = new Lease(user, this, onEvict, isMessage);
    this.#unfinished.push(lease);
    return lease;
  }

  charge(lease: Lease, bytes: number, signal: AbortSignal): true | Promise<void> {
    // New charges do not overtake those that wait.
    const isBehind = this.#pending.length > 0 && this.#unfinished[0] !== lease;
    if (isBehind || !this.#hasRoomFor(lease, bytes)) return this.#wait(lease, bytes, signal);
    this.#add(lease, bytes);
    return true;
  }

  complete(lease: Lease): void {
    this.#unfinished = this.#unfinished.filter((other) => other !== lease);
    this.#admitPending();
  }

  release(lease: Lease): void {
    for (const charge of this.#pending) if (charge.lease === lease) charge.reject(inFlightError());
    this.#unfinished = this.#unfinished.filter((other) => other !== lease);
    this.#add(lease, -lease.bytes);
    this.#admitPending();
  }

  #hasRoomFor(lease: Lease, bytes: number): boolean {
    const { totalBytes } = this.#options;
    const { user, isMessage } = lease;
    const isWithinTotal = this.#used + bytes <= totalBytes;
    if (!isMessage) return isWithinTotal || this.#unfinished[0] === lease;
    if (!isWithinTotal && !isNext(lease, this.#unfinished, this.#used)) return false;
    const usedByUser = this.#usedBy.get(user) ?? 0;
    if (usedByUser + bytes <= totalBytes / 2) return true;
    return isNext(
      lease,
      this.#unfinished.filter((other) => other.user === user),
      usedByUser,
    );
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
        this.#pending = this.#pending.filter((other) => other !== charge);
        settle();
      };
      const charge: PendingCharge = {
        lease,
        bytes,
        admit: () => finish(resolve),
        reject: (error) => finish(() => reject(error)),
      };
      const abort = () => finish(() => reject(signal.reason));
      const timer = setTimeout(() => charge.reject(this.#timeoutError(lease)), this.#options.maxWaitMs);
      signal.addEventListener("abort", abort, { once: true });
      this.#pending.push(charge);
      this.#admitPending();
      this.#makeRoomFor(charge);
    });
  }

  /** Evicts bodies of users that hold more than their share, newest first, until there is room. */
  #makeRoomFor(charge: PendingCharge): void {
    const { lease, bytes } = charge;
    // A message can wait; an eviction would end another stream.
    if (lease.isMessage) return;
    const share = this.#shareWith(lease.user);
    if ((this.#usedBy.get(lease.user) ?? 0) + bytes > share) return;
    // Every eviction admits pending charges, also this one once there is room.
    while (this.#pending.includes(charge)) {
      const victim = this.#newestOfLargestUser(lease.user, share);
      if (!victim) return;
      victim.evict();
    }
  }

  /** The newest unfinished body of the user that holds most, among the other users above the share. */
  #newestOfLargestUser(exceptUser: string, share: number): Lease | undefined {
    const candidates = this.#unfinished.filter(
      ({ user, bytes }) => user !== exceptUser && bytes > 0 && this.#usedBy.get(user)! > share,
    );
    const maxUsed = Math.max(...candidates.map(({ user }) => this.#usedBy.get(user)!));
    return candidates.findLast(({ user }) => this.#usedBy.get(user) === maxUsed);
  }

  /** The share of each user while users wait, when this user is among them. */
  #shareWith(user: string): number {
    const users = new Set([...this.#usedBy.keys(), ...this.#pending.map(({ lease }) => lease.user), user]);
    return this.#options.totalBytes / users.size;
  }

  #timeoutError({ user }: Lease): ServiceError {
    const holdsMost = (this.#usedBy.get(user) ?? 0) > this.#options.totalBytes / 2;
    return holdsMost ? inFlightError() : new ServiceError("overloaded");
  }

  /** Admits the pending charges for which there is room, oldest body first. */
  #admitPending(): void {
    for (const charge of this.#pending.toSorted((a, b) => this.#orderOf(a) - this.#orderOf(b))) {
      if (!this.#hasRoomFor(charge.lease, charge.bytes)) continue;
      this.#add(charge.lease, charge.bytes);
      charge.admit();
    }
  }

  #orderOf({ lease }: PendingCharge): number {
    return this.#unfinished.indexOf(lease);
  }
}

/** Whether a message may exceed a limit: it is the oldest unfinished one, and no finished one will free memory. */
function isNext(lease: Lease, unfinished: readonly Lease[], usedBytes: number): boolean {
  return unfinished[0] === lease && unfinished.reduce((sum, { bytes }) => sum + bytes, 0) === usedBytes;
}

class Lease implements BodyLease {
  readonly user: string;
  readonly isMessage: boolean;
  readonly #budget: ByteBudget;
  readonly #onEvict: (error: ServiceError) => void;
  bytes = 0;
  #isReleased = false;

  constructor(user: string, budget: ByteBudget, onEvict: (error: ServiceError) => void, isMessage: boolean) {
    this.user = user;
    this.isMessage = isMessage;
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
