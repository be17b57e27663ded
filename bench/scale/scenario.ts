import type { AccountCosts, RequestCost } from "../sizing/costs.ts";

/** How the proxy chooses the replica of a request. */
export type Spread = "in turn" | "random" | "by user";

/** What is simulated. Costs are CPU times of one request. */
export interface Scenario {
  readonly cost: Pick<
    RequestCost,
    "images" | "workersMs" | "serverMs" | "searchMs" | "databaseMs" | "transactions"
  > &
    Partial<Pick<RequestCost, "generatorMs">>;
  readonly accounts: Pick<AccountCosts, "readMs" | "usageMs" | "usageOfUserMs" | "usageLockMs">;
  /** Poisson arrivals. */
  readonly perSecond: number;
  /** What is counted begins after the warm-up. */
  readonly warmUpSeconds?: number;
  readonly seconds: number;
  readonly replicas: number;
  /** Of each replica. */
  readonly workers: number;
  /** Cores of the machine of each replica; or of the one machine on which everything runs, the load generator too. */
  readonly cores: number;
  readonly isOneMachine?: boolean;
  /** Tasks of other programs that run on that one machine. */
  readonly competitors?: number;
  readonly databaseCores?: number;
  /** Users who send requests, all as many. */
  readonly users?: number;
  readonly spread?: Spread;
  /** From a replica to the database and back. */
  readonly roundTripMs?: number;
  readonly maxQueueWaitMs?: number;
  readonly seed?: number;
}
