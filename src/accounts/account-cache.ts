import type { Account } from "./account-store.ts";

/** The result of looking up a credential. */
export type AccountLookup = Account | "unknown" | "unavailable";

/** Options of an account cache. */
export interface AccountCacheOptions {
  /** Reads an account from the store. Rejects when the store cannot be reached. */
  readonly read: (credential: string) => Promise<Account | undefined>;
  /** How long a cached account may be used while the store is unavailable. Values below 3 seconds have no effect. */
  readonly graceMs: number;
  /** Called once per outage, with the first error. */
  readonly onStoreError: (error: unknown) => void;
  /** Called when the store responds again after an outage. */
  readonly onStoreRecovery: () => void;
}

interface Entry {
  readonly account: Account;
  /** When the read started; the account may be that old. */
  readonly readAtMs: number;
}

/** Maximum age of an account while the store responds. A disabled user is rejected after this time. */
const MAX_AGE_MS = 3_000;
/** From this age on, an account is refreshed in the background, so that frequent users never wait. */
const REFRESH_AGE_MS = 2_000;
/** A store that takes longer than this counts as unavailable. */
const READ_TIMEOUT_MS = 1_500;
/** Interval between reads while the store is unavailable. */
const RETRY_INTERVAL_MS = 1_000;
const MAX_UNKNOWN_CREDENTIALS = 10_000;
/** Beyond this many concurrent reads, credentials that are not cached are not looked up. Known users need the store too. */
const MAX_CONCURRENT_READS = 256;

/**
 * Caches accounts by credential for a few seconds. While the store is unavailable, cached accounts stay valid for a grace
 * period and are returned without waiting; the store is retried once a second.
 */
export class AccountCache {
  readonly #options: AccountCacheOptions;
  // Maps iterate in insertion order, so the oldest entries come first.
  readonly #known = new Map<string, Entry>();
  readonly #unknownSinceMs = new Map<string, number>();
  readonly #pendingReads = new Map<string, Promise<AccountLookup>>();
  #isUnavailable = false;
  #lastReadMs = Number.NEGATIVE_INFINITY;

  constructor(options: AccountCacheOptions) {
    this.#options = options;
  }

  /** Whether the last read from the store failed. */
  get isUnavailable(): boolean {
    return this.#isUnavailable;
  }

  /** Number of cached credentials, known and unknown. */
  get size(): number {
    return this.#known.size + this.#unknownSinceMs.size;
  }

  /** Whether the credential belongs to a user whose account was read within the grace period. */
  isKnown(credential: string): boolean {
    return this.#cachedInGrace(credential) !== "unavailable";
  }

  /** Finds an account: synchronously if it is fresh or the store is unavailable, otherwise after reading it. */
  find(credential: string): AccountLookup | Promise<AccountLookup> {
    const nowMs = performance.now();
    const entry = this.#known.get(credential);
    const ageMs = nowMs - (entry?.readAtMs ?? Number.NEGATIVE_INFINITY);
    if (entry && ageMs < REFRESH_AGE_MS) return entry.account;
    if (nowMs - (this.#unknownSinceMs.get(credential) ?? Number.NEGATIVE_INFINITY) < MAX_AGE_MS)
      return "unknown";

    const read = this.#mayRead(credential, nowMs) ? this.#read(credential, nowMs) : undefined;
    if (entry && ageMs < MAX_AGE_MS) return entry.account;
    const cached = this.#cachedInGrace(credential);
    if (!read || (this.#isUnavailable && cached !== "unavailable")) return cached;
    return read.then((found) => (found === "unavailable" ? this.#cachedInGrace(credential) : found));
  }

  #mayRead(credential: string, nowMs: number): boolean {
    if (this.#isUnavailable && nowMs - this.#lastReadMs < RETRY_INTERVAL_MS) return false;
    return (
      this.#known.has(credential) ||
      this.#pendingReads.has(credential) ||
      this.#pendingReads.size < MAX_CONCURRENT_READS
    );
  }

  /** The cached account if it may be used while the store is unavailable. */
  #cachedInGrace(credential: string): Account | "unavailable" {
    const entry = this.#known.get(credential);
    return entry && this.#isInGrace(entry) ? entry.account : "unavailable";
  }

  #isInGrace({ readAtMs }: Entry): boolean {
    return performance.now() - readAtMs < Math.max(this.#options.graceMs, MAX_AGE_MS);
  }

  /** Reads an account, or joins the pending read. Resolves to "unavailable" if the read fails or times out. */
  #read(credential: string, nowMs: number): Promise<AccountLookup> {
    const pending = this.#pendingReads.get(credential);
    if (pending) return pending;
    this.#lastReadMs = nowMs;
    const read = new Promise<AccountLookup>((resolve) => {
      const fail = (error: unknown) => {
        if (!this.#isUnavailable) this.#options.onStoreError(error);
        this.#isUnavailable = true;
        resolve("unavailable");
      };
      const onTimeout = () =>
        fail(new Error(`The account store did not answer within ${READ_TIMEOUT_MS} ms.`));
      const timer = setTimeout(onTimeout, READ_TIMEOUT_MS).unref();
      this.#options
        .read(credential)
        .then((account) => {
          const isRecovery = this.#isUnavailable;
          this.#isUnavailable = false;
          if (isRecovery) this.#options.onStoreRecovery();
          this.#add(credential, account, nowMs);
          resolve(account ?? "unknown");
        }, fail)
        // A read that timed out stays pending, so that a store that hangs does not get the same query again.
        .finally(() => {
          clearTimeout(timer);
          this.#pendingReads.delete(credential);
        });
    });
    this.#pendingReads.set(credential, read);
    return read;
  }

  #add(credential: string, account: Account | undefined, readAtMs: number): void {
    this.#known.delete(credential);
    this.#unknownSinceMs.delete(credential);
    if (account) this.#known.set(credential, { account, readAtMs });
    else this.#unknownSinceMs.set(credential, readAtMs);
    this.#evict();
  }

  #evict(): void {
    for (const [oldest, entry] of this.#known) {
      if (this.#isInGrace(entry)) break;
      this.#known.delete(oldest);
    }
    for (const [oldest, sinceMs] of this.#unknownSinceMs) {
      if (performance.now() - sinceMs < MAX_AGE_MS && this.#unknownSinceMs.size <= MAX_UNKNOWN_CREDENTIALS)
        break;
      this.#unknownSinceMs.delete(oldest);
    }
  }
}
