// Measures what to size a deployment by: `npm run bench:sizing`, or with `-- --database URL` on PostgreSQL, whose
// transactions are then counted too. Writes bench/results/sizing.md.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { PACKAGE_ROOT } from "../src/model-manifest.ts";
import { prepareModels } from "../tools/models/prepare.ts";
import { formatMs, formatTable } from "../tools/support/format.ts";
import { mapWithProgress } from "../tools/support/progress.ts";
import { type ServiceProcess, startServiceProcess, USER } from "../tools/support/service-process.ts";
import type { Operation } from "./load/load.ts";
import { makePhotos, type Photos } from "./load/photos.ts";
import { measureSpeed } from "./load/run-load.ts";
import { describeRun } from "./machine.ts";

const SECONDS = 8;
const MB = 1e6;

const { values } = parseArgs({ options: { database: { type: "string" } } });
await prepareModels();
const folder = mkdtempSync(join(tmpdir(), "visage-sizing-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const photos = await makePhotos(folder);
const service = await startServiceProcess(
  values.database === undefined ? {} : { VISAGE_DATABASE_URL: values.database },
);
try {
  const before = await transactions();
  const started = performance.now();
  const costs = await mapWithProgress("sizing", cases(photos), (one) => measureCost(service, one));
  const seconds = (performance.now() - started) / 1000;
  const after = await transactions();
  const perSecond = before === undefined || after === undefined ? undefined : (after - before) / seconds;
  report(costs, perSecond);
} finally {
  await service.stop();
}

interface Case {
  readonly operation: Operation;
  readonly photo: string;
  readonly images: readonly string[];
}

/** A case, and the milliseconds of processors that one request took. */
interface Cost extends Case {
  readonly workers: number;
  readonly server: number;
}

function cases({ one, many, other }: Photos): Case[] {
  return [
    { operation: "get_face_vec", photo: "640x480, one face", images: [one("640x480")] },
    { operation: "get_face_vec", photo: "1920x1280, five faces", images: [many("1920x1280")] },
    { operation: "get_image_attr", photo: "640x480, one face", images: [one("640x480")] },
    { operation: "get_image_attr", photo: "1920x1280, five faces", images: [many("1920x1280")] },
    { operation: "match_faces", photo: "two of one face", images: [one("640x480"), other] },
  ];
}

async function measureCost(of: ServiceProcess, one: Case): Promise<Cost> {
  const { operation, images } = one;
  const before = of.cpuMs();
  const { requests } = await measureSpeed(
    { port: of.port, userId: USER, mix: [{ wire: "multipart", operation, images }] },
    { inFlight: 2 * availableParallelism(), seconds: SECONDS },
  );
  const after = of.cpuMs();
  return {
    ...one,
    workers: (after.workers - before.workers) / requests,
    server: (after.server - before.server) / requests,
  };
}

/** How many transactions the database has seen, where there is one. */
async function transactions(): Promise<number | undefined> {
  if (values.database === undefined) return undefined;
  const client = new Client(values.database);
  await client.connect();
  const { rows } = await client.query(
    "select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()",
  );
  await client.end();
  return Number(rows[0].count);
}

/** What a process has to itself, and its share of what it has in common with others. */
function memoryOf(pid: number): number {
  const [, kilobytes] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))!;
  return Number(kilobytes) * 1024;
}

function report(costs: readonly Cost[], perSecond: number | undefined): void {
  const size = (pids: readonly number[]) => `${(Math.max(...pids.map(memoryOf)) / MB).toFixed(0)} MB`;
  const rows = [
    ["memory of the server process", size([service.pid])],
    ["memory of the largest worker", size(service.workers)],
    ...(perSecond === undefined
      ? []
      : [["transactions of PostgreSQL, one user all the time", `${perSecond.toFixed(1)} a second`]]),
  ];
  const text = [
    "# Sizing",
    `Written by \`npm run bench:sizing\`. ${describeRun()}`,
    "Processor time of a request over multipart, in the workers and in the server process:",
    formatTable(
      ["operation", "photograph", "workers", "server"],
      costs.map(({ operation, photo, workers, server }) => [
        operation,
        photo,
        formatMs(workers),
        formatMs(server),
      ]),
    ),
    "After all of these (memory is the proportional share, of /proc):",
    formatTable(["", ""], rows),
  ].join("\n\n");
  const results = join(PACKAGE_ROOT, "bench/results");
  mkdirSync(results, { recursive: true });
  writeFileSync(join(results, "sizing.md"), `${text}\n`);
  console.log(`\n${text}`);
}
