import { formatMs, formatTable } from "../../tools/support/format.ts";
import type { RequestCost, Sizing } from "../sizing/costs.ts";
import type { Scenario, Spread } from "./scenario.ts";
import { simulate } from "./simulation.ts";

const PER_SECOND = 10_000;
/** Of the cores, and of the single thread of a server or search process. */
const UTILIZATION = 0.7;
const CORES = [4, 8, 16];
const SECONDS = 3;
/** Longer than accounts stay in the cache. */
const WARM_UP_SECONDS = 4;
const CONNECTIONS_PER_PROCESS = 4;
const MEMORY_RESERVE = 1.5;
const [GB, GIGABIT] = [1e9, 1e9];
/** What the plan assumes beside the measured costs. */
const ASSUMED = { databaseCores: 16, roundTripMs: 0.5, users: 100, spread: "random" } as const;

/** Calculates and simulates what 10,000 requests per second need. Returns paragraphs. */
export function createPlan(sizing: Sizing): string[] {
  const requests = sizing.requests.map(withoutIdleWork);
  const small = requests[0]!;
  const cores = CORES[2]!;
  return [
    `All figures are calculated by \`npm run bench:scale\` from the costs; none is measured at this rate. Assumed: ${100 * UTILIZATION} % utilization, a database of ${ASSUMED.databaseCores} cores with a round trip of ${ASSUMED.roundTripMs} ms, ${ASSUMED.users} users who send as much each, a proxy that spreads requests at random, as several proxies together do, and a worker for each core.`,
    "## Replicas",
    formatTable(
      [
        "operation",
        "input",
        "cores of a replica",
        "replicas",
        "cores",
        "p50",
        "p95",
        "refused",
        "server process",
        "memory",
        "in",
        "out",
        "transactions/s",
        "connections",
      ],
      requests.flatMap((cost) => coresFor(cost).map((one) => replicaRow(sizing, cost, one))),
    ),
    "## Users and account reads",
    `get_face_vec on the small photo, ${replicasFor(small, cores)} replicas of ${cores} cores and ${replicasFor(small, CORES[0]!)} of ${CORES[0]}. A replica reads the account of an active user every two seconds; with many users on many replicas, most requests find an old one.`,
    formatTable(
      [
        "users",
        "proxy",
        ...[cores, CORES[0]!].flatMap((one) => [`reads/s, ${one} cores`, `database, ${one} cores`]),
      ],
      [1, 100, 1_000, 10_000].flatMap((users) =>
        (["random", "by user"] as const)
          .filter((spread) => spread === "random" || users >= 1_000)
          .map((spread) => [
            users.toLocaleString("en"),
            spread,
            ...[cores, CORES[0]!].flatMap((one) => accountCells(sizing, small, one, users, spread)),
          ]),
      ),
    ),
    "## Replicas and one large user",
    "All requests of one user. Replicas write its usage twice a second, one after another. The lag is the longest time until a batch was written.",
    formatTable(
      ["replicas", "lag", "transactions/s"],
      [35, 70, 140, 280, 560].map((replicas) => {
        const { slowestUsageMs, transactionsPerSecond } = simulate(
          scenarioOf(sizing, small, cores, { replicas, users: 1 }),
        );
        return [replicas, formatMs(slowestUsageMs), transactionsPerSecond.toFixed(0)];
      }),
    ),
  ];
}

/** Leaves out what the search process and the database did meanwhile for other reasons. */
function withoutIdleWork(cost: RequestCost): RequestCost {
  return cost.transactions < 0.5 ? { ...cost, searchMs: 0, databaseMs: 0, transactions: 0 } : cost;
}

/** An operation without images needs a core for its server process and one for its searches, whatever the machine has. */
function coresFor({ images, searchMs }: RequestCost): readonly number[] {
  return images > 0 ? CORES : [searchMs > 0 ? 2 : 1];
}

function replicasFor({ workersMs, serverMs, searchMs }: RequestCost, cores: number): number {
  const ms = Math.max((workersMs + serverMs + searchMs) / cores, serverMs, searchMs);
  return Math.ceil((PER_SECOND * ms) / 1_000 / UTILIZATION);
}

function scenarioOf(
  sizing: Sizing,
  cost: RequestCost,
  cores: number,
  options: Partial<Scenario> = {},
): Scenario {
  return {
    ...{ cost, accounts: sizing.accounts, perSecond: PER_SECOND, cores, workers: cores },
    ...{ replicas: replicasFor(cost, cores), warmUpSeconds: WARM_UP_SECONDS, seconds: SECONDS },
    ...ASSUMED,
    ...options,
  };
}

function replicaRow(sizing: Sizing, cost: RequestCost, cores: number): (string | number)[] {
  const scenario = scenarioOf(sizing, cost, cores);
  const { replicas } = scenario;
  const { p50, p95, refused, serverUtilization, transactionsPerSecond, databaseUtilization } =
    simulate(scenario);
  const { server, worker, search } = sizing.memoryBytes;
  const memory = replicas * (server + cores * worker + (cost.searchMs > 0 ? search : 0)) * MEMORY_RESERVE;
  const gigabits = (bytes: number) => `${((8 * bytes * PER_SECOND) / GIGABIT).toFixed(1)} Gbit/s`;
  const isSaturated = databaseUtilization > 0.95;
  const connections = replicas * CONNECTIONS_PER_PROCESS * (cost.searchMs > 0 ? 2 : 1);
  return [
    cost.operation,
    cost.input,
    cores,
    replicas,
    replicas * cores,
    ...(isSaturated
      ? ["database saturated", "", ""]
      : [formatMs(p50), formatMs(p95), `${(100 * refused).toFixed(1)} %`]),
    `${(100 * serverUtilization).toFixed(0)} %`,
    `${(memory / GB).toFixed(0)} GB`,
    gigabits(cost.bytesSent),
    gigabits(cost.bytesReceived),
    `${transactionsPerSecond.toFixed(0)} (${(100 * databaseUtilization).toFixed(0)} % of ${ASSUMED.databaseCores} cores)`,
    connections.toLocaleString("en"),
  ];
}

function accountCells(
  sizing: Sizing,
  cost: RequestCost,
  cores: number,
  users: number,
  spread: Spread,
): string[] {
  const { accountReadsPerSecond, databaseUtilization } = simulate(
    scenarioOf(sizing, cost, cores, { users, spread }),
  );
  return [accountReadsPerSecond.toFixed(0), `${(100 * databaseUtilization).toFixed(0)} %`];
}
