/** How many keys of a user are counted separately in a month: a user that keeps creating keys must not fill the database. */
const MAX_COUNTED_KEYS = 100;

/** Stands for the fingerprints of all further keys. */
const OTHER_KEYS = "other";

/**
 * The usage of one user in one month as far as this process knows it: its own successes, and those of other replicas
 * that it has read from the store.
 */
export class MonthlyUsage {
  #ownSuccesses = 0;
  #otherSuccesses = 0;
  #inFlight = 0;
  readonly #keys = new Set<string>();

  /** Successful requests of the month, of all replicas. */
  get used(): number {
    return this.#ownSuccesses + this.#otherSuccesses;
  }

  /** Started requests that have not finished. Each reserves one request of the quota. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** The name under which the usage of a key is counted: its fingerprint, or that of all further keys. */
  countedKey(fingerprint: string): string {
    if (this.#keys.size < MAX_COUNTED_KEYS) this.#keys.add(fingerprint);
    return this.#keys.has(fingerprint) ? fingerprint : OTHER_KEYS;
  }

  start(): void {
    this.#inFlight++;
  }

  finish(isSuccess: boolean): void {
    this.#inFlight--;
    if (isSuccess) this.#ownSuccesses++;
  }

  /**
   * Updates the share of other replicas from a count that was just read from the store. `unsent` is the number of own
   * successes that have not been sent to the store.
   *
   * A batch that was in transit during the read may or may not be part of the count. This method assumes that it is,
   * which can only underestimate the other replicas: no user is rejected wrongly. The share of others never decreases,
   * so the maximum is kept: a single replica never exceeds the quota.
   */
  updateFromStore(stored: number, unsent: number): void {
    this.#otherSuccesses = Math.max(this.#otherSuccesses, stored - (this.#ownSuccesses - unsent));
  }
}

/** The usage of all users in the current month. A new month starts with an empty table. */
export class MonthlyUsageTable {
  #month = "";
  readonly #byUserId = new Map<string, MonthlyUsage>();

  /** Returns the usage of a user, creating it if needed. */
  get(userId: string, month: string): MonthlyUsage {
    if (month !== this.#month) {
      this.#month = month;
      this.#byUserId.clear();
    }
    let usage = this.#byUserId.get(userId);
    if (!usage) {
      usage = new MonthlyUsage();
      this.#byUserId.set(userId, usage);
    }
    return usage;
  }
}
