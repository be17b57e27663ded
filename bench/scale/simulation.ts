import { createRandom } from "../../tools/support/random.ts";
import { quantile } from "../../tools/support/statistics.ts";
import { Clock, Machine, Station } from "./event-loop.ts";
import type { Scenario, Spread } from "./scenario.ts";
import { Database, FLUSH_MS, Replica } from "./service.ts";

/** What a simulation predicts. Utilizations are shares of one core, or of all cores of the database. */
export interface Prediction {
  readonly perSecond: number;
  readonly p50: number;
  readonly p95: number;
  readonly refused: number;
  readonly transactionsPerSecond: number;
  readonly accountReadsPerSecond: number;
  /** Of the server process, per request, refused ones too. */
  readonly serverMs: number;
  readonly serverUtilization: number;
  readonly workerUtilization: number;
  readonly searchUtilization: number;
  readonly databaseUtilization: number;
  /** The longest time from the flush of a batch of usage until it was written. */
  readonly slowestUsageMs: number;
}

/** How long requests may take that arrived before the end. */
const DRAIN_MS = 5_000;

/** Simulates a load. The same scenario gives the same prediction. */
export function simulate(scenario: Scenario): Prediction {
  const { cost, seconds, warmUpSeconds = 2, replicas: count, users = 1, spread = "in turn" } = scenario;
  const clock = new Clock();
  const machine = new Machine(clock, scenario.cores, scenario.competitors);
  const shared = scenario.isOneMachine ? machine : undefined;
  const database = new Database(clock, shared ?? new Machine(clock, scenario.databaseCores ?? 8), scenario);
  const replicas = Array.from(
    { length: count },
    (_, i) =>
      new Replica(
        clock,
        shared ?? new Machine(clock, scenario.cores),
        database,
        scenario,
        (FLUSH_MS * (i + 1)) / count,
      ),
  );
  const generator = new Station(clock, machine, 1);
  const { seed = 1 } = scenario;
  // The arrivals are those of bench/load/arrivals.ts if the seed is the same.
  const [nextArrival, nextChoice] = [createRandom(seed), createRandom(seed + 1)];
  const below = (limit: number) => Math.floor(nextChoice() * limit);
  const choose: Record<Spread, (user: number) => number> = {
    "in turn": () => sent % count,
    random: () => below(count),
    "by user": (user) => user % count,
  };
  const [startMs, endMs] = [1_000 * warmUpSeconds, 1_000 * (warmUpSeconds + seconds)];
  const generatorMs = (shared ? (cost.generatorMs ?? 0) : 0) / 2;
  const latencies: number[] = [];
  let [sent, due, done, refused] = [0, 0, 0, 0];

  const scheduleArrival = () =>
    clock.after((-Math.log(1 - nextArrival()) * 1_000) / scenario.perSecond, arrive);
  const arrive = () => {
    scheduleArrival();
    const dueMs = clock.nowMs;
    const isCounted = dueMs >= startMs && dueMs < endMs;
    if (isCounted) due++;
    const user = below(users);
    const replica = replicas[choose[spread](user)]!;
    sent++;
    const receive = (isRefused: boolean) => {
      if (isCounted && isRefused) refused++;
      if (isCounted && !isRefused) latencies.push(clock.nowMs - dueMs);
      if (!isRefused && clock.nowMs >= startMs && clock.nowMs < endMs) done++;
    };
    generator.run(generatorMs, () =>
      replica.request(user, (isRefused) => generator.run(generatorMs, () => receive(isRefused))),
    );
  };
  scheduleArrival();
  clock.runUntil(startMs);
  const atStart = totals();
  clock.runUntil(endMs);
  const atEnd = totals();
  // The requests in progress are counted too.
  clock.runUntil(endMs + DRAIN_MS);

  function totals() {
    const sum = (usedBy: (replica: Replica) => number) =>
      replicas.reduce((total, one) => total + usedBy(one), 0);
    return {
      server: sum(({ server }) => server.usedMs),
      workers: sum(({ workers }) => workers.usedMs),
      search: sum(({ search }) => search.usedMs),
      database: database.usedMs,
      transactions: database.transactions,
      reads: database.accountReads,
    };
  }
  const used = (name: keyof ReturnType<typeof totals>) => atEnd[name] - atStart[name];
  return {
    perSecond: done / seconds,
    p50: quantile(latencies, 0.5),
    p95: quantile(latencies, 0.95),
    refused: refused / Math.max(1, due),
    transactionsPerSecond: used("transactions") / seconds,
    accountReadsPerSecond: used("reads") / seconds,
    serverMs: used("server") / Math.max(1, due),
    serverUtilization: used("server") / (1_000 * seconds * count),
    workerUtilization: used("workers") / (1_000 * seconds * count * scenario.workers),
    searchUtilization: used("search") / (1_000 * seconds * count),
    databaseUtilization: used("database") / (1_000 * seconds * (scenario.databaseCores ?? 8)),
    slowestUsageMs: database.slowestUsageMs,
  };
}
