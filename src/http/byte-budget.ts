import { ServiceError } from "../service/service-error.ts";

/** Options of a byte budget. */
export interface ByteBudgetOptions {
  /** The limit for all bodies together. */
  readonly totalBytes: number;
  /** How long a body may wait for room before its request is rejected. */
  readonly maxWaitMs: number;
}

/** The bytes that one body, or message of a stream, holds of the budget. */
export interface BodyLease {
  /**
   * Charges more bytes. Returns true if there is room, otherwise a promise that resolves when there is; the caller must
   * not read on before. Rejects with ServiceError if there is no room in time, and with the signal's reason.
   */
  charge(bytes: number, signal: AbortSignal): true | Promise<void>;
  /** Marks the body as read: it charges no more, and frees its bytes when its request ends. */
  complete(): void;
  /** Frees all bytes. Does nothing the second time. */
  release(): void;
}

/** What the budget knows of a body. */
interface Holder {
  readonly user: string;
  readonly maxWaitMs: number;
  bytes: number;
  isReleased: boolean;
}

/** A charge that waits for room. */
interface PendingCharge {
  readonly holder: Holder;
  readonly bytes: number;
  admit(): void;
  reject(error: Error): void;
}

/**
 * Bounds the memory of request bodies, in total and for each user to half of it. Beyond that:
 * - bodies wait; their readers stop reading, and flow control stops the clients;
 * - the oldest unfinished body proceeds once no finished one will free memory, so that bodies cannot deadlock;
 * - a body that has waited too long is rejected.
 */
export class ByteBudget {
  readonly #options: ByteBudgetOptions;
  /** Unfinished bodies, oldest first. */
  #unfinished: Holder[] = [];
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

  /** Whether bodies wait and this user has used up its half, so that a new body of it would only wait as well. */
  isClosedFor(user: string): boolean {
    return this.#pending.length > 0 && this.#usedByUser(user) >= this.#userBytes;
  }

  /** Opens the lease of a new body, or of a message of a stream. */
  open(user: string, maxWaitMs = this.#options.maxWaitMs): BodyLease {
    const holder: Holder = { user, maxWaitMs, bytes: 0, isReleased: false };
    this.#unfinished.push(holder);
    return {
      charge: (bytes, signal) => this.#charge(holder, bytes, signal),
      complete: () => this.#complete(holder),
      release: () => this.#release(holder),
    };
  }

  get #userBytes(): number {
    return this.#options.totalBytes / 2;
  }

  #usedByUser(user: string): number {
    return this.#usedBy.get(user) ?? 0;
  }

  #charge(holder: Holder, bytes: number, signal: AbortSignal): true | Promise<void> {
    if (holder.isReleased) return Promise.reject(releasedError());
    if (!this.#hasRoomFor(holder, bytes)) return this.#wait(holder, bytes, signal);
    this.#add(holder, bytes);
    return true;
  }

  #complete(holder: Holder): void {
    this.#unfinished = this.#unfinished.filter((other) => other !== holder);
    this.#admitPending();
  }

  #release(holder: Holder): void {
    if (holder.isReleased) return;
    holder.isReleased = true;
    for (const charge of this.#pending) if (charge.holder === holder) charge.reject(releasedError());
    this.#add(holder, -holder.bytes);
    this.#complete(holder);
  }

  #hasRoomFor(holder: Holder, bytes: number): boolean {
    const isWithinTotal = this.#used + bytes <= this.#options.totalBytes;
    if (!isWithinTotal && !isNext(holder, this.#unfinished, this.#used)) return false;
    const usedByUser = this.#usedByUser(holder.user);
    if (usedByUser + bytes <= this.#userBytes) return true;
    const ofUser = this.#unfinished.filter(({ user }) => user === holder.user);
    return isNext(holder, ofUser, usedByUser);
  }

  #add(holder: Holder, bytes: number): void {
    holder.bytes += bytes;
    this.#used += bytes;
    const used = this.#usedByUser(holder.user) + bytes;
    if (used > 0) this.#usedBy.set(holder.user, used);
    else this.#usedBy.delete(holder.user);
  }

  #wait(holder: Holder, bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        this.#pending = this.#pending.filter((other) => other !== charge);
        settle();
      };
      const charge: PendingCharge = {
        holder,
        bytes,
        admit: () => finish(resolve),
        reject: (error) => finish(() => reject(error)),
      };
      const abort = () => finish(() => reject(signal.reason));
      const timer = setTimeout(() => charge.reject(this.#timeoutError(charge)), holder.maxWaitMs);
      signal.addEventListener("abort", abort, { once: true });
      this.#pending.push(charge);
    });
  }

  #timeoutError({ holder, bytes }: PendingCharge): ServiceError {
    if (this.#usedByUser(holder.user) + bytes <= this.#userBytes) return new ServiceError("overloaded");
    return new ServiceError(
      "tooManyInFlight",
      "The request bodies of this user take too much memory at once.",
    );
  }

  /** Admits the pending charges for which there is room, oldest body first. */
  #admitPending(): void {
    const order = ({ holder }: PendingCharge) => this.#unfinished.indexOf(holder);
    for (const charge of this.#pending.toSorted((a, b) => order(a) - order(b))) {
      if (!this.#hasRoomFor(charge.holder, charge.bytes)) continue;
      this.#add(charge.holder, charge.bytes);
      charge.admit();
    }
  }
}

/** Whether a body may exceed a limit: it is the oldest unfinished one, and no finished one will free memory. */
function isNext(holder: Holder, unfinished: readonly Holder[], usedBytes: number): boolean {
  return unfinished[0] === holder && unfinished.reduce((sum, { bytes }) => sum + bytes, 0) === usedBytes;
}

function releasedError(): Error {
  return new DOMException("The request has ended.", "AbortError");
}
