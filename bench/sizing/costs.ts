import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT } from "../../src/package-root.ts";

/** What one request costs. CPU times are in milliseconds. */
export interface RequestCost {
  readonly operation: string;
  readonly input: string;
  /** Images that are analysed. */
  readonly images: number;
  readonly workersMs: number;
  readonly serverMs: number;
  /** Of the process that searches galleries. */
  readonly searchMs: number;
  /** Of PostgreSQL, and its transactions. Those of the accounts, which do not grow with the requests, are left out. */
  readonly databaseMs: number;
  readonly transactions: number;
  /** Of the load generator, which is in a process of its own for photos only. */
  readonly generatorMs: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

/** What the accounts cost in PostgreSQL, in milliseconds. */
export interface AccountCosts {
  /** CPU time of reading one account. */
  readonly readMs: number;
  /** CPU time of a transaction that writes the usage of one user, and of each further user in it. */
  readonly usageMs: number;
  readonly usageOfUserMs: number;
  /** How long a transaction that writes usage of a user makes the others of this user wait. */
  readonly usageLockMs: number;
  /** Usage transactions per second of 16 connections, each of another user. */
  readonly usagePerSecond: number;
}

/** The content of bench/results/sizing.json. */
export interface Sizing {
  readonly conditions: string;
  readonly requests: readonly RequestCost[];
  readonly accounts: AccountCosts;
  readonly memoryBytes: { readonly server: number; readonly worker: number; readonly search: number };
}

/** The file of the costs in bench/results. */
export const SIZING_FILE = "sizing.json";

/** Reads what `npm run bench:sizing` measured last. */
export function readSizing(): Sizing {
  return JSON.parse(readFileSync(join(PACKAGE_ROOT, "bench/results", SIZING_FILE), "utf8"));
}
