import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type AccountStore, type KeyUse, SUCCESS_OUTCOME, type UsageCount } from "./account-store.ts";
import { KeyUses } from "./key-uses.ts";
import { monthOf } from "./month-clock.ts";

type Tally = UsageCount & { count: number };

interface Batch {
  readonly id: string;
  readonly counts: readonly UsageCount[];
  readonly keyUses: readonly KeyUse[];
}

const FLUSH_INTERVAL_MS = 500;

/** A batch of this size gets no further users, so that the store can write it within its timeout. */
const MAX_BATCH_COUNTS = 1_000;

const CLOSE_ATTEMPTS = 3;
const CLOSE_RETRY_DELAY_MS = 200;

/**
 * Counts requests by user, day, key, operation and outcome, and writes the counts to the store twice a second. Counts that
 * cannot be written are kept and retried. Memory grows with the number of users, not with the number of requests.
 */
export class UsageCounter {
  readonly #store: Pick<AccountStore, "addUsage">;
  readonly #onStoreError: (error: unknown) => void;
  readonly #onStoreRecovery: () => void;
  readonly #timer: NodeJS.Timeout;
  /** By user and month, then by day, key, operation and outcome. */
  readonly #tallies = new Map<string, Map<string, Tally>>();
  readonly #keyUses = new KeyUses();
  /** The batch that the store has not confirmed. It is retried unchanged, because it may have been stored. */
  #batch: Batch | undefined;
  #sending: Promise<void> | undefined;
  #isFailing = false;

  /** `onStoreError` is called once per outage, and by `close` for lost counts; `onStoreRecovery` after an outage. */
  constructor(
    store: Pick<AccountStore, "addUsage">,
    onStoreError: (error: unknown) => void,
    onStoreRecovery: () => void = () => {},
  ) {
    this.#store = store;
    this.#onStoreError = onStoreError;
    this.#onStoreRecovery = onStoreRecovery;
    this.#timer = setInterval(() => this.flush(), FLUSH_INTERVAL_MS).unref();
  }

  /** Whether the last write failed. It is retried until it succeeds. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Counts one request, and the use of its keys. */
  add(request: Omit<UsageCount, "count">, keyHashes: readonly string[] = []): void {
    this.addKeyUses(keyHashes);
    const { userId, day, key, operation, outcome } = request;
    const tallies = getOrCreate(
      this.#tallies,
      joinNames(userId, monthOf(day)),
      () => new Map<string, Tally>(),
    );
    const tally = getOrCreate(tallies, joinNames(day, key, operation, outcome), () => ({
      ...request,
      count: 0,
    }));
    tally.count++;
  }

  /** Records the use of keys by a request that is not counted. */
  addKeyUses(keyHashes: readonly string[]): void {
    for (const hash of keyHashes) this.#keyUses.add(hash);
  }

  /** Successes of a user in a month that no batch contains yet, sent or failed. */
  unsentSuccesses(userId: string, month: string): number {
    let sum = 0;
    for (const { outcome, count } of this.#tallies.get(joinNames(userId, month))?.values() ?? [])
      if (outcome === SUCCESS_OUTCOME) sum += count;
    return sum;
  }

  /** Sends the next batch, or retries the one that failed. Never rejects. */
  flush(): Promise<void> {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  /** Writes the remaining counts. Gives up after three attempts and reports the loss. Call it after the last `add`. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (let attemptsLeft = CLOSE_ATTEMPTS; attemptsLeft > 0 && this.#unstoredRequests > 0; ) {
      await this.flush();
      if (this.#batch && --attemptsLeft > 0) await delay(CLOSE_RETRY_DELAY_MS);
    }
    const lost = this.#unstoredRequests;
    if (lost > 0) this.#onStoreError(new Error(`The counts of ${lost} requests are lost.`));
  }

  get #unstoredRequests(): number {
    const untransmitted = [...this.#tallies.values()].flatMap((tallies) => [...tallies.values()]);
    return [...(this.#batch?.counts ?? []), ...untransmitted].reduce((sum, { count }) => sum + count, 0);
  }

  async #send(): Promise<void> {
    this.#batch ??= this.#takeBatch();
    if (!this.#batch) return;
    try {
      const { id, counts, keyUses } = this.#batch;
      await this.#store.addUsage(id, counts, keyUses);
      this.#batch = undefined;
      const isRecovery = this.#isFailing;
      this.#isFailing = false;
      if (isRecovery) this.#onStoreRecovery();
    } catch (error) {
      if (!this.#isFailing) this.#onStoreError(error);
      this.#isFailing = true;
    }
  }

  #takeBatch(): Batch | undefined {
    const counts: UsageCount[] = [];
    for (const [key, tallies] of this.#tallies) {
      if (counts.length >= MAX_BATCH_COUNTS) break;
      counts.push(...tallies.values());
      this.#tallies.delete(key);
    }
    const keyUses = this.#keyUses.take(MAX_BATCH_COUNTS);
    return counts.length === 0 && keyUses.length === 0 ? undefined : { id: randomUUID(), counts, keyUses };
  }
}

function joinNames(...names: readonly string[]): string {
  return names.join(" ");
}

function getOrCreate<V>(map: Map<string, V>, key: string, create: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}
