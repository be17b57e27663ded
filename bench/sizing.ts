// Measures the figures by which to size a deployment: `npm run bench:sizing`. Writes bench/results/sizing.md, and
// bench/results/sizing.json for `npm run bench:scale`. It starts a PostgreSQL server and needs Linux.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { formatMs, formatTable } from "../tools/support/format.ts";
import { startPostgres } from "../tools/support/postgres.ts";
import { mapWithProgress } from "../tools/support/progress.ts";
import { startServiceProcess } from "../tools/support/service-process.ts";
import { createTempDir } from "../tools/support/temp-dir.ts";
import { createPhotos } from "./load/photos.ts";
import { describeRun } from "./machine.ts";
import { writeReport, writeResult } from "./report.ts";
import { measureAccountCosts } from "./sizing/account-costs.ts";
import { type Case, embeddingCases, photoCases } from "./sizing/cases.ts";
import { type AccountCosts, type RequestCost, SIZING_FILE, type Sizing } from "./sizing/costs.ts";
import { readPostgresCounters } from "./sizing/postgres-counters.ts";

const MB = 1e6;
/** PostgreSQL counts the transactions of an idle connection this much later. */
const STATISTICS_DELAY_MS = 11_000;

const photos = await createPhotos(createTempDir("visage-sizing-"));
const postgres = await startPostgres();
const accounts = await measureAccountCosts(await postgres.createDatabase());
const { url } = postgres;
// On a busy machine too, no request may be rejected.
const service = await startServiceProcess({ VISAGE_DATABASE_URL: url, VISAGE_MAX_QUEUE_WAIT_MS: "10000" });
try {
  const cases = photoCases(photos);
  // V8 compiles the code of the server over thousands of requests.
  for (const one of cases) await one.run(service.port);
  const before = await readPostgresCounters(url);
  const startMs = performance.now();
  const photoCosts = await mapWithProgress("photos", cases, measureCost);
  const seconds = (performance.now() - startMs) / 1_000;
  const after = await readPostgresCounters(url);
  const { workers } = service;
  const embeddings = await mapWithProgress(
    "embeddings",
    await embeddingCases(url, service.port),
    measureCost,
  );
  const [search] = service.workers.filter((pid) => !workers.includes(pid));
  const sizing: Sizing = {
    conditions: describeRun(),
    requests: [...photoCosts, ...embeddings],
    accounts,
    memoryBytes: {
      server: proportionalSetSize(service.pid),
      worker: Math.max(...workers.map(proportionalSetSize)),
      search: proportionalSetSize(search!),
    },
  };
  report(sizing, (after.transactions - before.transactions) / seconds);
} finally {
  await service.stop();
  await postgres.remove();
}

async function measureCost({ run, ...names }: Case): Promise<RequestCost> {
  const read = async () => ({ ...service.cpuMs(), database: await readPostgresCounters(url) });
  const before = await read();
  const { requests, cpuMs, bytesSent, bytesReceived } = await run(service.port);
  const hasImages = names.images > 0;
  if (!hasImages) await sleep(STATISTICS_DELAY_MS);
  const after = await read();
  const childrenMs = (after.workers - before.workers) / requests;
  const ofDatabase = (counter: "cpuMs" | "transactions") =>
    hasImages ? 0 : (after.database[counter] - before.database[counter]) / requests;
  return {
    ...names,
    workersMs: hasImages ? childrenMs : 0,
    serverMs: (after.server - before.server) / requests,
    searchMs: hasImages ? 0 : childrenMs,
    databaseMs: ofDatabase("cpuMs"),
    transactions: ofDatabase("transactions"),
    generatorMs: cpuMs / requests,
    bytesSent: bytesSent / requests,
    bytesReceived: bytesReceived / requests,
  };
}

/** Proportional set size of a process in bytes: its private memory and its share of shared memory. */
function proportionalSetSize(pid: number): number {
  const [, kilobytes] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))!;
  return Number(kilobytes) * 1024;
}

function report(sizing: Sizing, transactionsPerSecond: number): void {
  const { conditions, requests, memoryBytes } = sizing;
  const megabytes = (bytes: number) => `${(bytes / MB).toFixed(0)} MB`;
  const paragraphs = [
    "# Sizing",
    `Written by \`npm run bench:sizing\`. ${conditions}`,
    "CPU time of a request over plain HTTP, and bytes on its connection without TLS. Photos are sent as multipart, embeddings as JSON.",
    formatTable(
      [
        "operation",
        "input",
        "workers",
        "server",
        "search process",
        "PostgreSQL",
        "transactions",
        "in",
        "out",
      ],
      requests.map((one) => [
        one.operation,
        one.input,
        ...[one.workersMs, one.serverMs, one.searchMs, one.databaseMs].map((ms) =>
          ms < 0.01 ? "" : formatMs(ms),
        ),
        one.transactions < 0.1 ? "" : one.transactions.toFixed(1),
        ...[one.bytesSent, one.bytesReceived].map((bytes) => `${(bytes / 1e3).toFixed(1)} kB`),
      ]),
    ),
    "After all these requests (memory is the proportional set size):",
    formatTable(
      ["", ""],
      [
        ["memory of the server process", megabytes(memoryBytes.server)],
        ["memory of the largest worker", megabytes(memoryBytes.worker)],
        ["memory of the search process", megabytes(memoryBytes.search)],
        ["PostgreSQL transactions, one active user", `${transactionsPerSecond.toFixed(1)} per second`],
      ],
    ),
    "Transactions of the accounts, in a PostgreSQL server on the same machine without `fsync`:",
    formatTable(["", ""], accountRows(sizing.accounts)),
  ];
  writeReport("sizing.md", paragraphs);
  writeResult(SIZING_FILE, `${JSON.stringify(sizing, undefined, 2)}\n`);
  console.log(`\n${paragraphs.join("\n\n")}`);
}

function accountRows(costs: AccountCosts): string[][] {
  return [
    ["CPU time of reading an account", `${costs.readMs.toFixed(2)} ms`],
    ["CPU time of writing the usage of one user", `${costs.usageMs.toFixed(2)} ms`],
    ["CPU time of each further user in the same transaction", `${costs.usageOfUserMs.toFixed(3)} ms`],
    [
      "usage transactions per second of 16 connections, each of another user",
      costs.usagePerSecond.toFixed(0),
    ],
    ["the same, all of one user", (1_000 / costs.usageLockMs).toFixed(0)],
  ];
}
