import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type AccountStore, SUCCESS_OUTCOME, type UsageCount } from "./account-store.ts";

type Tally = UsageCount & { count: number };

interface Batch {
  readonly id: string;
  readonly counts: readonly UsageCount[];
}

const FLUSH_EVERY_MS = 500;

/** A batch that is as long as this takes no more users, so that the store can always write it in time. */
const BATCH_COUNTS = 1_000;

const CLOSING_TRIES = 3;
const CLOSING_PAUSE_MS = 200;

/**
 * Counts what became of requests, and writes the counts to the store twice a second. What cannot be written
 * is kept and tried again: its memory grows with the users that came meanwhile, not with their requests.
 */
export class UsageCounter {
  readonly #store: Pick<AccountStore, "addUsage">;
  readonly #onTrouble: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  /** By user and month, then by operation and outcome. */
  readonly #gathered = new Map<string, Map<string, Tally>>();
  /** The batch that the store has not confirmed. It goes out again unchanged, since it may have arrived. */
  #batch: Batch | undefined;
  #sending: Promise<void> | undefined;
  #isFailing = false;

  /** `onTrouble` hears of the first failure to write, of each time that the store is away. */
  constructor(store: Pick<AccountStore, "addUsage">, onTrouble: (error: unknown) => void) {
    this.#store = store;
    this.#onTrouble = onTrouble;
    this.#timer = setInterval(() => this.flush(), FLUSH_EVERY_MS).unref();
  }

  /** Whether the last attempt to write failed. It is repeated until it succeeds. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Counts one request. */
  add(idHash: string, month: string, operation: string, outcome: string): void {
    const tallies = getOrMake(this.#gathered, keyOf(idHash, month), () => new Map<string, Tally>());
    const tally = getOrMake(tallies, keyOf(operation, outcome), () => ({
      idHash,
      month,
      operation,
      outcome,
      count: 0,
    }));
    tally.count++;
  }

  /** Successes of a user in a month that have not been sent to the store, not even in vain. */
  unsentSuccesses(idHash: string, month: string): number {
    let sum = 0;
    for (const { outcome, count } of this.#gathered.get(keyOf(idHash, month))?.values() ?? [])
      if (outcome === SUCCESS_OUTCOME) sum += count;
    return sum;
  }

  /** Sends the next batch, or the last one again where that failed. Never rejects. */
  flush(): Promise<void> {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  /** Writes what is left; gives up after a few tries and tells of what is lost. Call it after the last `add`. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (let triesLeft = CLOSING_TRIES; triesLeft > 0 && this.#unstored > 0; ) {
      await this.flush();
      if (this.#batch && --triesLeft > 0) await delay(CLOSING_PAUSE_MS);
    }
    if (this.#unstored > 0) this.#onTrouble(new Error(`The counts of ${this.#unstored} requests are lost.`));
  }

  get #unstored(): number {
    const gathered = [...this.#gathered.values()].flatMap((tallies) => [...tallies.values()]);
    return [...(this.#batch?.counts ?? []), ...gathered].reduce((sum, { count }) => sum + count, 0);
  }

  async #send(): Promise<void> {
    this.#batch ??= this.#takeBatch();
    if (!this.#batch) return;
    try {
      await this.#store.addUsage(this.#batch.id, this.#batch.counts);
      this.#batch = undefined;
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#onTrouble(error);
      this.#isFailing = true;
    }
  }

  #takeBatch(): Batch | undefined {
    const counts: UsageCount[] = [];
    for (const [key, tallies] of this.#gathered) {
      if (counts.length >= BATCH_COUNTS) break;
      counts.push(...tallies.values());
      this.#gathered.delete(key);
    }
    return counts.length > 0 ? { id: randomUUID(), counts } : undefined;
  }
}

function keyOf(first: string, second: string): string {
  return `${first} ${second}`;
}

function getOrMake<V>(map: Map<string, V>, key: string, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
