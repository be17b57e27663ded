// Measures how a gallery is read into memory: `npm run bench:galleries -- [--faces N] [--database URL] [--encrypted]`.
// Prints the time and the CPU time of its enrolment and of the first search, which reads it, the memory for each face, and
// the time of later searches. The gallery is made in SQLite, or in an empty PostgreSQL database. It needs Linux, because
// it reads /proc.
import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { openAccountStore } from "../src/accounts/open-account-store.ts";
import { readCalibration } from "../src/core/index.ts";
import { openDatabase } from "../src/database/open-database.ts";
import { MAX_ENROLMENT_BATCH } from "../src/galleries/gallery-store.ts";
import { parseMasterKeys } from "../src/galleries/master-keys.ts";
import { SearchProcess } from "../src/galleries/search-process.ts";
import { createSqlGalleryStore } from "../src/galleries/sql-gallery-store.ts";
import { formatMs } from "../tools/support/format.ts";
import { quantile } from "../tools/support/statistics.ts";
import { createTempDir } from "../tools/support/temp-dir.ts";
import { randomTemplates } from "./templates.ts";

const QUERIES = 50;
const TICKS_PER_SECOND = 100;
const USER = "bench";

const { values } = parseArgs({
  options: {
    faces: { type: "string", default: "1000000" },
    database: { type: "string" },
    encrypted: { type: "boolean", default: false },
  },
});
const count = Number(values.faces);
const { model } = readCalibration();
const location = { databaseUrl: values.database, dataDir: createTempDir("visage-gallery-load-") };
const templateKey = values.encrypted ? randomBytes(32).toString("base64") : undefined;
await createGallery();
const searcher = new SearchProcess({
  location,
  calibration: readCalibration(),
  templateKey,
  maxBytes: 64e9,
  graceMs: 0,
  maxWaitMs: 60_000,
  onLoss: (cause) => console.error(cause),
  onOutput: (text) => console.error(text),
});
const { signal } = new AbortController();
const queries = [...randomTemplates(QUERIES + 1, 2)];
// Starts the process without reading the gallery.
await search(queries[0]!, "none").catch(() => {});
const [bytesBefore, cpuBefore] = [memoryOf(searcher), cpuSecondsOf(searcher)];
const loadMs = await search(queries[0]!, "g");
const cpuSeconds = cpuSecondsOf(searcher) - cpuBefore;
const times: number[] = [];
for (const query of queries.slice(1)) times.push(await search(query, "g"));
console.log(`first search of ${count} faces: ${formatMs(loadMs)}, ${cpuSeconds.toFixed(1)} s of CPU
memory for each face: ${Math.round((memoryOf(searcher) - bytesBefore) / count)} bytes in the process, ${Math.round(searcher.state.bytes / count)} counted
later searches: median ${formatMs(quantile(times, 0.5))}, 95th percentile ${formatMs(quantile(times, 0.95))}`);
await searcher.close();

async function createGallery(): Promise<void> {
  const accounts = await openAccountStore(location);
  const user = { id: USER, fingerprint: "", name: USER, plan: "unlimited", startsAt: new Date(0) };
  await accounts.addUser({ ...user, endsAt: undefined, enabled: true, certificateSubject: undefined }, USER);
  await accounts.close();
  const database = await openDatabase(location);
  const store = createSqlGalleryStore(database, { keys: parseMasterKeys(templateKey) });
  await store.createGallery(USER, { id: "g", displayName: "", model, maxDistance: undefined }, {});
  const [startMs, startCpu] = [performance.now(), process.cpuUsage()];
  let batch = [];
  for (const embedding of randomTemplates(count, 1)) {
    batch.push({ personId: randomUUID(), faceId: randomUUID(), embedding });
    if (batch.length < MAX_ENROLMENT_BATCH) continue;
    await store.enrolFaces(USER, "g", model, batch, {});
    batch = [];
  }
  const seconds = (performance.now() - startMs) / 1000;
  const cpu = process.cpuUsage(startCpu);
  console.log(
    `enrolment: ${seconds.toFixed(1)} s, ${Math.round(count / seconds)} faces/s, ${((cpu.user + cpu.system) / 1e6).toFixed(1)} s of CPU`,
  );
  await database.close();
}

/** Searches and returns the time that it took. */
async function search(embedding: Float32Array, galleryId: string): Promise<number> {
  const startMs = performance.now();
  const probes = [{ embedding, populations: ["adults"] as const }];
  const request = { userId: USER, galleryId, probes, model, maxResults: 1, maxDistance: 0.5 };
  await searcher.search(request, signal);
  return performance.now() - startMs;
}

function memoryOf({ pid }: SearchProcess): number {
  return 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]);
}

function cpuSecondsOf({ pid }: SearchProcess): number {
  const [, fields] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = fields!.split(" ").slice(11, 13).map(Number) as [number, number];
  return (user + system) / TICKS_PER_SECOND;
}
