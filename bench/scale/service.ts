import { COMMON_SLOWDOWN, MAX_WAITING } from "../../src/workers/load-shedder.ts";
import { estimateWaitMs, JobCost } from "../../src/workers/wait-estimate.ts";
import { type Clock, type Machine, Station } from "./event-loop.ts";
import type { Scenario } from "./scenario.ts";

// As in the service: accounts/account-cache.ts, accounts/usage-counter.ts, database/postgres-database.ts.
const [MAX_AGE_MS, REFRESH_AGE_MS, CONNECTIONS] = [3_000, 2_000, 4];
export const FLUSH_MS = 500;
/** Round trips of a usage transaction from its first lock to its commit. */
const LOCKED_STATEMENTS = 4;
/** Shares of the CPU time of the server: admission, body, response. Refused requests cost about half in real runs. */
const [HEAD, BODY, RESPONSE] = [0.5, 0.2, 0.3];

/** PostgreSQL: cores, and a lock for the usage of each user. */
export class Database {
  readonly #clock: Clock;
  readonly machine: Machine;
  readonly #scenario: Scenario;
  /** When the last transaction that waits for the rows of a user will have ended. */
  readonly #lockedUntilMs = new Map<number, number>();
  usedMs = 0;
  transactions = 0;
  accountReads = 0;
  slowestUsageMs = 0;

  constructor(clock: Clock, machine: Machine, scenario: Scenario) {
    this.#clock = clock;
    this.machine = machine;
    this.#scenario = scenario;
  }

  /** Runs a query on a connection of a replica. */
  query(connections: Station, workMs: number, onEnd: () => void, transactions = 1): void {
    connections.run(workMs, () => this.#count(workMs, transactions, onEnd), this.#scenario.roundTripMs ?? 0);
  }

  /** Writes usage in one transaction, which waits for those before it of the same users. */
  writeUsage(users: ReadonlySet<number>, onEnd: () => void): void {
    const { accounts, roundTripMs = 0 } = this.#scenario;
    const flushedAtMs = this.#clock.nowMs;
    const heldMs = accounts.usageLockMs + LOCKED_STATEMENTS * roundTripMs;
    let startMs = flushedAtMs;
    for (const user of users) startMs = Math.max(startMs, this.#lockedUntilMs.get(user) ?? 0);
    for (const user of users) this.#lockedUntilMs.set(user, startMs + heldMs);
    const workMs = accounts.usageMs + (users.size - 1) * accounts.usageOfUserMs;
    this.#clock.after(startMs - flushedAtMs, () => {
      this.machine.run(workMs, () => {
        const restMs = Math.max(0, startMs + heldMs - this.#clock.nowMs);
        this.#clock.after(restMs, () => {
          this.slowestUsageMs = Math.max(this.slowestUsageMs, this.#clock.nowMs - flushedAtMs);
          this.#count(workMs, 1, onEnd);
        });
      });
    });
  }

  #count(workMs: number, transactions: number, onEnd: () => void): void {
    this.usedMs += workMs;
    this.transactions += transactions;
    onEnd();
  }
}

/** A replica: the server process, its workers and its search process. */
export class Replica {
  readonly server: Station;
  readonly workers: Station;
  readonly search: Station;
  readonly #clock: Clock;
  readonly #database: Database;
  readonly #scenario: Scenario;
  readonly #connections: Station;
  readonly #searchConnections: Station;
  readonly #jobs = new JobCost();
  /** When the account of a user was read, and who waits for a read in progress. */
  readonly #readAtMs = new Map<number, number>();
  readonly #reading = new Map<number, (() => void)[]>();
  #usage = new Set<number>();
  #isFlushing = false;

  /** @param firstFlushMs when it writes usage for the first time. Replicas do not start at the same moment. */
  constructor(clock: Clock, machine: Machine, database: Database, scenario: Scenario, firstFlushMs: number) {
    this.#clock = clock;
    this.#database = database;
    this.#scenario = scenario;
    this.server = new Station(clock, machine, 1);
    this.workers = new Station(clock, machine, scenario.workers);
    this.search = new Station(clock, machine, 1);
    this.#connections = new Station(clock, database.machine, CONNECTIONS);
    this.#searchConnections = new Station(clock, database.machine, CONNECTIONS);
    clock.after(firstFlushMs, () => this.#flush());
  }

  /** Processes a request. `onEnd` gets whether it was refused. */
  request(user: number, onEnd: (isRefused: boolean) => void): void {
    const { serverMs, images } = this.#scenario.cost;
    const respond = () => this.server.run(serverMs * RESPONSE, () => this.#finish(user, onEnd));
    this.server.run(serverMs * HEAD, () =>
      this.#authenticate(user, () => {
        if (this.#isFull) onEnd(true);
        else
          this.server.run(serverMs * BODY, () => {
            if (images > 0 && this.#isFull) onEnd(true);
            else this.#analyze(() => this.#searchGallery(respond, () => onEnd(true)));
          });
      }),
    );
  }

  #finish(user: number, onEnd: (isRefused: boolean) => void): void {
    this.#usage.add(user);
    onEnd(false);
  }

  /** As LoadShedder.isFull of the service, by its own estimate. */
  get #isFull(): boolean {
    const { waiting, idle, elapsedMs } = this.workers;
    if (idle > 0) return false;
    const idleInMs = elapsedMs.map((ms) => this.#jobs.remainingMs(ms));
    const waitMs = estimateWaitMs(idleInMs, this.#jobs.totalMs(waiting * COMMON_SLOWDOWN));
    return waiting >= MAX_WAITING || waitMs > (this.#scenario.maxQueueWaitMs ?? 1_000);
  }

  #analyze(onEnd: () => void): void {
    const { images, workersMs } = this.#scenario.cost;
    let left = images;
    if (left === 0) onEnd();
    for (let i = 0; i < images; i++)
      this.workers.run(workersMs / images, (durationMs) => {
        this.#jobs.add(durationMs);
        if (--left === 0) onEnd();
      });
  }

  /** Reads the revision of the gallery, scans it, and reads who was found. */
  #searchGallery(onEnd: () => void, onRefusal: () => void): void {
    const { searchMs, databaseMs, transactions } = this.#scenario.cost;
    const query = (next: () => void) =>
      this.#database.query(this.#searchConnections, databaseMs / 2, next, transactions / 2);
    if (searchMs === 0) onEnd();
    else if (this.search.waiting * searchMs > (this.#scenario.maxQueueWaitMs ?? 1_000)) onRefusal();
    else query(() => this.search.run(searchMs, () => query(onEnd)));
  }

  /** As AccountCache of the service: reads the account again when it is old, and waits for it when it is too old. */
  #authenticate(user: number, onEnd: () => void): void {
    const ageMs = this.#clock.nowMs - (this.#readAtMs.get(user) ?? Number.NEGATIVE_INFINITY);
    if (ageMs >= REFRESH_AGE_MS && !this.#reading.has(user)) this.#readAccount(user);
    if (ageMs < MAX_AGE_MS) onEnd();
    else this.#reading.get(user)!.push(onEnd);
  }

  #readAccount(user: number): void {
    const startMs = this.#clock.nowMs;
    const waiting: (() => void)[] = [];
    this.#reading.set(user, waiting);
    this.#database.query(this.#connections, this.#scenario.accounts.readMs, () => {
      this.#database.accountReads++;
      this.#readAtMs.set(user, startMs);
      this.#reading.delete(user);
      for (const next of waiting) next();
    });
  }

  /** As UsageCounter of the service: one batch at a time, twice a second. */
  #flush(): void {
    this.#clock.after(FLUSH_MS, () => this.#flush());
    if (this.#isFlushing || this.#usage.size === 0) return;
    const users = this.#usage;
    this.#usage = new Set();
    this.#isFlushing = true;
    this.#database.writeUsage(users, () => {
      this.#isFlushing = false;
    });
  }
}
