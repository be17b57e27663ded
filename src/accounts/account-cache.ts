import type { Account } from "./account-store.ts";

/** What is known of an id. */
export type Found = Account | "unknown" | "unavailable";

/** Where accounts come from, and how long they may be used without it. */
export interface AccountCacheOptions {
  /** Reads an account from the store; rejects where that cannot be reached. */
  readonly read: (idHash: string) => Promise<Account | undefined>;
  /** How old an account may be that is used while the store is away. Less than 3 seconds changes nothing. */
  readonly graceMs: number;
  /** Hears of the first failure to read, of each time that the store is away. */
  readonly onTrouble: (error: unknown) => void;
}

interface Entry {
  readonly account: Account;
  /** When its read began: it may be as old as that. */
  readonly readAtMs: number;
}

/** How old an account may be while the store answers: one who is disabled is out after that. */
const FRESH_MS = 3_000;
/** From this age on it is read again without waiting, so that those who come often never wait. */
const RENEW_MS = 2_000;
/** A store that takes longer than this counts as away. */
const PATIENCE_MS = 1_500;
/** How often a store that is away is tried. */
const RETRY_MS = 1_000;
const MAX_UNKNOWN = 10_000;
/** Reads at once beyond which unknown ids are not looked up: those who are known need the store too. */
const MAX_READS = 256;

/**
 * Accounts by id hash, as the store gave them in the last seconds. While the store is away known users go on
 * for a while with what was read last, and without waiting; it is tried again once a second.
 */
export class AccountCache {
  readonly #options: AccountCacheOptions;
  // Both maps keep the order of arrival, so the oldest stand in front.
  readonly #known = new Map<string, Entry>();
  readonly #unknownAtMs = new Map<string, number>();
  readonly #reads = new Map<string, Promise<Found>>();
  #isAway = false;
  #lastReadMs = Number.NEGATIVE_INFINITY;

  constructor(options: AccountCacheOptions) {
    this.#options = options;
  }

  /** Whether the store could not be read when it was last tried. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** How many ids are remembered, known and unknown. */
  get size(): number {
    return this.#known.size + this.#unknownAtMs.size;
  }

  /** Whether an id was that of a user when it was last looked up, not longer ago than the grace. */
  isKnown(idHash: string): boolean {
    return this.#lastOf(idHash) !== "unavailable";
  }

  /** The account of an id: at once where it is fresh or the store is away, else when it has been read. */
  find(idHash: string): Found | Promise<Found> {
    const nowMs = performance.now();
    const entry = this.#known.get(idHash);
    const ageMs = nowMs - (entry?.readAtMs ?? Number.NEGATIVE_INFINITY);
    if (entry && ageMs < RENEW_MS) return entry.account;
    if (nowMs - (this.#unknownAtMs.get(idHash) ?? Number.NEGATIVE_INFINITY) < FRESH_MS) return "unknown";

    const read = this.#mayRead(idHash, nowMs) ? this.#read(idHash, nowMs) : undefined;
    if (entry && ageMs < FRESH_MS) return entry.account;
    const last = this.#lastOf(idHash);
    if (!read || (this.#isAway && last !== "unavailable")) return last;
    return read.then((found) => (found === "unavailable" ? this.#lastOf(idHash) : found));
  }

  #mayRead(idHash: string, nowMs: number): boolean {
    if (this.#isAway && nowMs - this.#lastReadMs < RETRY_MS) return false;
    return this.#known.has(idHash) || this.#reads.has(idHash) || this.#reads.size < MAX_READS;
  }

  /** What can be said while the store is away. */
  #lastOf(idHash: string): Account | "unavailable" {
    const entry = this.#known.get(idHash);
    return entry && this.#isInGrace(entry) ? entry.account : "unavailable";
  }

  #isInGrace({ readAtMs }: Entry): boolean {
    return performance.now() - readAtMs < Math.max(this.#options.graceMs, FRESH_MS);
  }

  /** Reads an account, or joins the read that is under way; "unavailable" when that fails or takes too long. */
  #read(idHash: string, nowMs: number): Promise<Found> {
    const underWay = this.#reads.get(idHash);
    if (underWay) return underWay;
    this.#lastReadMs = nowMs;
    const read = new Promise<Found>((resolve) => {
      const giveUp = (error: unknown) => {
        if (!this.#isAway) this.#options.onTrouble(error);
        this.#isAway = true;
        resolve("unavailable");
      };
      const late = () => giveUp(new Error(`The account store did not answer within ${PATIENCE_MS} ms.`));
      const timer = setTimeout(late, PATIENCE_MS).unref();
      this.#options
        .read(idHash)
        .then((account) => {
          this.#isAway = false;
          this.#keep(idHash, account, nowMs);
          resolve(account ?? "unknown");
        }, giveUp)
        // One that is late stays under way, so that a store that hangs is not asked the same again.
        .finally(() => {
          clearTimeout(timer);
          this.#reads.delete(idHash);
        });
    });
    this.#reads.set(idHash, read);
    return read;
  }

  #keep(idHash: string, account: Account | undefined, readAtMs: number): void {
    this.#known.delete(idHash);
    this.#unknownAtMs.delete(idHash);
    if (account) this.#known.set(idHash, { account, readAtMs });
    else this.#unknownAtMs.set(idHash, readAtMs);

    for (const [oldest, entry] of this.#known) {
      if (this.#isInGrace(entry)) break;
      this.#known.delete(oldest);
    }
    for (const [oldest, atMs] of this.#unknownAtMs) {
      if (performance.now() - atMs < FRESH_MS && this.#unknownAtMs.size <= MAX_UNKNOWN) break;
      this.#unknownAtMs.delete(oldest);
    }
  }
}
