// Searches the same gallery in memory and by Milvus, and compares the results:
// `npm run bench:engines -- --data DIR [--faces N] [--index FLAT] [--milvus-lite PROGRAM]`. The gallery has synthetic
// templates and real ones of the photos in DIR, and the probes are other photos of the same people, photos of strangers,
// and synthetic. Milvus is the server of Milvus Lite. It needs Linux, because it reads /proc.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openAccountStore } from "../src/accounts/open-account-store.ts";
import { DEFAULT_MODELS_DIR, openAnalyzer, readCalibration } from "../src/core/index.ts";
import { openDatabase } from "../src/database/open-database.ts";
import type { IdentifiedFace } from "../src/galleries/gallery-search.ts";
import { MAX_ENROLMENT_BATCH, type NewFace } from "../src/galleries/gallery-store.ts";
import type { MilvusIndex } from "../src/galleries/milvus/milvus-collections.ts";
import { SearchProcess, type SearchProcessOptions } from "../src/galleries/search-process.ts";
import { createSqlGalleryStore } from "../src/galleries/sql-gallery-store.ts";
import { readDatasets } from "../tools/support/datasets.ts";
import { embedPhotos } from "../tools/support/evaluation.ts";
import { formatMs, formatTable } from "../tools/support/format.ts";
import { quantile } from "../tools/support/statistics.ts";
import { createTempDir } from "../tools/support/temp-dir.ts";
import { personOf } from "./accuracy/false-match-curve.ts";
import { describeRun } from "./machine.ts";
import { randomTemplates } from "./templates.ts";

const TICKS_PER_SECOND = 100;
const SYNTHETIC_PROBES = 25;
const REAL_PROBES = 125;
const MAX_DISTANCE = 0.5;
const MAX_RESULTS = 5;
const MIB = 1024 * 1024;
const USER = "bench";

/** What one engine needed and found. */
interface Measurement {
  /** Until the first search had its result. */
  readonly firstMs: number;
  /** Seconds of CPU until then: of the search process, and of Milvus. */
  readonly cpuSeconds: readonly number[];
  /** Memory at the end, of the same. */
  readonly memory: readonly number[];
  readonly timesMs: readonly number[];
  readonly faces: readonly IdentifiedFace[];
}

const { values } = parseArgs({
  options: {
    data: { type: "string" },
    faces: { type: "string", default: "1000000" },
    index: { type: "string", default: "FLAT" },
    "milvus-lite": { type: "string", default: "milvus-lite" },
  },
});
const { model } = readCalibration();
const location = { databaseUrl: undefined, dataDir: createTempDir("visage-engines-") };
const { enrolled, probes, people } = await readTemplates(values.data!);
const count = await createGallery(enrolled);

const inMemory = await measure({}, []);
const { server, url } = await startMilvus(values["milvus-lite"]);
const index = values.index as MilvusIndex;
const settings = { url, token: undefined, ca: undefined, database: "default", index };
const byMilvus = await measure({ milvus: settings }, [server]);
server.kill();
report();

/** Enrols one photo of each of those people who have several, and of half of the others, who are strangers. */
async function readTemplates(dataDir: string) {
  const analyzer = await openAnalyzer({ modelsDir: DEFAULT_MODELS_DIR });
  const photosOf = new Map<string, Float32Array[]>();
  for (const [file, embedding] of await embedPhotos(analyzer, readDatasets(dataDir).lfw))
    photosOf.set(personOf(file), [...(photosOf.get(personOf(file)) ?? []), embedding]);
  await analyzer.close();
  const enrolled: NewFace[] = [];
  const probes: Float32Array[] = [];
  for (const [i, [first, ...others]] of [...photosOf.values()].entries()) {
    const isEnrolled = others.length > 0 || i % 2 === 0;
    if (isEnrolled) enrolled.push({ personId: randomUUID(), faceId: randomUUID(), embedding: first! });
    probes.push(...(isEnrolled ? others : [first!]));
  }
  // Of many people, not all photos of the first ones.
  const step = probes.length / REAL_PROBES;
  const some = Array.from({ length: REAL_PROBES }, (_, i) => probes[Math.floor(i * step)]!);
  return { enrolled, probes: [...some, ...randomTemplates(SYNTHETIC_PROBES, 2)], people: photosOf.size };
}

async function createGallery(real: readonly NewFace[]): Promise<number> {
  const accounts = await openAccountStore(location);
  const user = { id: USER, fingerprint: "", name: USER, plan: "unlimited", startsAt: new Date(0) };
  await accounts.addUser({ ...user, endsAt: undefined, enabled: true, certificateSubject: undefined }, USER);
  await accounts.close();
  const database = await openDatabase(location);
  const store = createSqlGalleryStore(database);
  await store.createGallery(USER, { id: "g", displayName: "", model, maxDistance: undefined }, {});
  let faces = [...real];
  let total = 0;
  const enrol = async () => {
    total += faces.length;
    for (let start = 0; start < faces.length; start += MAX_ENROLMENT_BATCH)
      await store.enrolFaces(USER, "g", model, faces.slice(start, start + MAX_ENROLMENT_BATCH), {});
    faces = [];
  };
  for (const embedding of randomTemplates(Number(values.faces) - real.length, 1)) {
    faces.push({ personId: randomUUID(), faceId: randomUUID(), embedding });
    if (faces.length >= MAX_ENROLMENT_BATCH) await enrol();
  }
  await enrol();
  await database.close();
  return total;
}

async function measure(
  engine: Pick<SearchProcessOptions, "milvus">,
  servers: readonly ChildProcess[],
): Promise<Measurement> {
  const searcher = new SearchProcess({
    location,
    calibration: readCalibration(),
    maxBytes: 64e9,
    graceMs: 0,
    maxWaitMs: 60_000,
    onLoss: (cause) => console.error(cause),
    onOutput: (text) => console.error(text),
    ...engine,
  });
  const { signal } = new AbortController();
  const search = async (embedding: Float32Array) => {
    const request = { userId: USER, galleryId: "g", model, maxResults: MAX_RESULTS };
    const probe = { embedding, populations: ["adults"] as const };
    const result = await searcher.search({ ...request, probes: [probe], maxDistance: MAX_DISTANCE }, signal);
    return result.faces[0]!;
  };
  const startMs = performance.now();
  // Milvus Lite makes an index while it writes, which may exceed the time limit of a request.
  while (!(await search(probes[0]!).catch((error: unknown) => console.error(String(error)))))
    await sleep(1_000);
  const firstMs = performance.now() - startMs;
  const pids = () => [searcher.pid!, ...servers.map(({ pid }) => pid!)];
  const cpuSeconds = pids().map(cpuSecondsOf);
  const faces: IdentifiedFace[] = [];
  const timesMs: number[] = [];
  for (const probe of probes) {
    const startMs = performance.now();
    faces.push(await search(probe));
    timesMs.push(performance.now() - startMs);
  }
  const memory = pids().map(memoryOf);
  await searcher.close();
  return { firstMs, cpuSeconds, memory, timesMs, faces };
}

async function startMilvus(program: string): Promise<{ server: ChildProcess; url: string }> {
  const port = await new Promise<number>((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
  const args = [
    "server",
    "--data-dir",
    createTempDir("visage-milvus-"),
    "--host",
    "127.0.0.1",
    "--port",
    `${port}`,
  ];
  // By default it keeps the last 128 MiB as objects of Python, which it searches one by one.
  const limit = `MILVUS_LITE_MEMTABLE_MEMORY_LIMIT_BYTES=${32 * MIB}`;
  const server = spawn("env", [limit, program, ...args], { stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  while (
    !(await fetch(url).then(
      () => true,
      (error) => error.cause?.code !== "ECONNREFUSED",
    ))
  )
    await sleep(200);
  return { server, url };
}

function report(): void {
  const matches = inMemory.faces.flatMap(({ matches }, i) => matches.map((match) => ({ match, i })));
  const isSame = ({ match, i }: (typeof matches)[number]) =>
    byMilvus.faces[i]!.matches.some(
      ({ personId, faceId, distance }) =>
        personId === match.personId && faceId === match.faceId && distance === match.distance,
    );
  const found = matches.filter(isSame).length;
  const others = byMilvus.faces.flatMap(({ matches }) => matches).length - found;
  const row = (name: string, { firstMs, cpuSeconds, memory, timesMs }: Measurement) => [
    name,
    `${(firstMs / 1000).toFixed(0)} s`,
    cpuSeconds.map((seconds) => `${seconds.toFixed(0)} s`).join(" + "),
    memory.map((bytes) => `${(bytes / MIB).toFixed(0)} MiB`).join(" + "),
    formatMs(quantile(timesMs, 0.5)),
    formatMs(quantile(timesMs, 0.95)),
  ];
  console.log(`${describeRun()}

${count} faces, ${enrolled.length} of them real (${people} people); ${probes.length} probes; up to ${MAX_RESULTS} people within ${MAX_DISTANCE}.

${formatTable(
  ["engine", "first search", "CPU until then", "memory at the end", "median search", "95th percentile"],
  [row("memory", inMemory), row(`Milvus Lite, ${index}`, byMilvus)],
)}

Of ${matches.length} matches in memory, Milvus found ${found} with the same distance (${((100 * found) / matches.length).toFixed(2)} %), and ${others} others.`);
}

function memoryOf(pid: number): number {
  return 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]);
}

function cpuSecondsOf(pid: number): number {
  const [, fields] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = fields!.split(" ").slice(11, 13).map(Number) as [number, number];
  return (user + system) / TICKS_PER_SECOND;
}
