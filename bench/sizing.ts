// Measures the figures by which to size a deployment: `npm run bench:sizing [-- --database URL]`.
// Writes bench/results/sizing.md. With a PostgreSQL database, it also counts the transactions of the accounts.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { formatMs, formatTable } from "../tools/support/format.ts";
import { mapWithProgress } from "../tools/support/progress.ts";
import { startServiceProcess, USER } from "../tools/support/service-process.ts";
import { createTempDir } from "../tools/support/temp-dir.ts";
import type { Operation } from "./load/load.ts";
import { createPhotos, type Photos } from "./load/photos.ts";
import { measureSpeed } from "./load/run-load.ts";
import { describeRun } from "./machine.ts";
import { writeReport } from "./report.ts";

const SECONDS = 8;
const MB = 1e6;
const HELP = `Usage: npm run bench:sizing [-- --database URL]

  --database URL  an empty PostgreSQL database for the accounts, instead of SQLite
`;

const { values } = parseArgs({
  options: { database: { type: "string" }, help: { type: "boolean", default: false } },
});
if (values.help) {
  console.error(HELP);
  process.exit();
}
const photos = await createPhotos(createTempDir("visage-sizing-"));
const service = await startServiceProcess(
  values.database === undefined ? {} : { VISAGE_DATABASE_URL: values.database },
);
try {
  const before = await countTransactions();
  const start = performance.now();
  const costs = await mapWithProgress("sizing", createCases(photos), measureCost);
  const seconds = (performance.now() - start) / 1000;
  const after = await countTransactions();
  report(costs, before === undefined || after === undefined ? undefined : (after - before) / seconds);
} finally {
  await service.stop();
}

interface Case {
  readonly operation: Operation;
  readonly photo: string;
  readonly images: readonly string[];
}

/** A case and the CPU time of one request in milliseconds. */
interface Cost extends Case {
  readonly workers: number;
  readonly server: number;
}

function createCases({ oneFace, fiveFaces, otherPerson }: Photos): Case[] {
  return [
    { operation: "get_face_vec", photo: "640x480, one face", images: [oneFace("640x480")] },
    { operation: "get_face_vec", photo: "1920x1280, five faces", images: [fiveFaces("1920x1280")] },
    { operation: "get_image_attr", photo: "640x480, one face", images: [oneFace("640x480")] },
    { operation: "get_image_attr", photo: "1920x1280, five faces", images: [fiveFaces("1920x1280")] },
    {
      operation: "match_faces",
      photo: "two of 640x480, one face each",
      images: [oneFace("640x480"), otherPerson],
    },
  ];
}

async function measureCost(one: Case): Promise<Cost> {
  const { operation, images } = one;
  const before = service.cpuMs();
  const { requests } = await measureSpeed(
    { port: service.port, userId: USER, mix: [{ protocol: "multipart", operation, images }] },
    { inFlight: 2 * availableParallelism(), seconds: SECONDS },
  );
  const after = service.cpuMs();
  return {
    ...one,
    workers: (after.workers - before.workers) / requests,
    server: (after.server - before.server) / requests,
  };
}

/** The number of transactions of the database so far; undefined without a database. */
async function countTransactions(): Promise<number | undefined> {
  if (values.database === undefined) return undefined;
  const client = new Client(values.database);
  await client.connect();
  const { rows } = await client.query(
    "select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()",
  );
  await client.end();
  return Number(rows[0].count);
}

/** Proportional set size of a process in bytes: its private memory and its share of shared memory. */
function proportionalSetSize(pid: number): number {
  const [, kilobytes] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))!;
  return Number(kilobytes) * 1024;
}

function report(costs: readonly Cost[], transactionsPerSecond: number | undefined): void {
  const maxMemory = (pids: readonly number[]) =>
    `${(Math.max(...pids.map(proportionalSetSize)) / MB).toFixed(0)} MB`;
  const paragraphs = [
    "# Sizing",
    `Written by \`npm run bench:sizing\`. ${describeRun()}`,
    "CPU time of a request over multipart, in the workers and in the server process:",
    formatTable(
      ["operation", "photo", "workers", "server"],
      costs.map(({ operation, photo, workers, server }) => [
        operation,
        photo,
        formatMs(workers),
        formatMs(server),
      ]),
    ),
    "After all these requests (memory is the proportional set size):",
    formatTable(
      ["", ""],
      [
        ["memory of the server process", maxMemory([service.pid])],
        ["memory of the largest worker", maxMemory(service.workers)],
        ...(transactionsPerSecond === undefined
          ? []
          : [["PostgreSQL transactions, one active user", `${transactionsPerSecond.toFixed(1)} per second`]]),
      ],
    ),
  ];
  writeReport("sizing.md", paragraphs);
  console.log(`\n${paragraphs.join("\n\n")}`);
}
