// Attacks on galleries: clients that do not read, leave or overload, and the loss of the search process.
import { once } from "node:events";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { MAX_ENROLMENT_BATCH } from "../../src/galleries/gallery-store.ts";
import { USER } from "../../tools/support/service-process.ts";
import { type EdgeService, startEdgeService } from "../support/edge-service.ts";
import {
  createGalleryClient,
  enrol,
  type GalleryClient,
  identify,
  MODEL,
  testPeople,
} from "../support/galleries.ts";
import { execute, hasPostgres, startPostgres, type TestPostgres } from "../support/postgres.ts";
import { until } from "../support/until.ts";

const PEOPLE = testPeople(6_000, 1);
/** Of the service's pool. */
const DATABASE_CONNECTIONS = 4;
const EXPORTS = 3 * DATABASE_CONNECTIONS;
/** The service gives up a client that reads nothing for 30 s. */
const SLOW_CLIENT_MS = 60_000;
/** For one export in memory; an export of all people has 15 MB. */
const MAX_GROWTH_MIB = 150;

const GALLERY_MEMORY_BYTES = 2.5 * 1024 * 1024;

let postgres: TestPostgres | undefined;
let service: EdgeService;
let client: GalleryClient;

beforeAll(async () => {
  postgres = hasPostgres ? await startPostgres() : undefined;
  service = await startEdgeService({
    VISAGE_GALLERY_MEMORY_BYTES: String(GALLERY_MEMORY_BYTES),
    ...(postgres && { VISAGE_DATABASE_URL: postgres.url }),
  });
  client = createGalleryClient(service, USER);
  await client.createGallery({ galleryId: "large" });
  await client.importFaces(faces("large", PEOPLE));
});
afterAll(async () => {
  await service?.stop("SIGKILL");
  await postgres?.remove();
});

async function* faces(galleryId: string, people: typeof PEOPLE) {
  for (const { values, ...ids } of people) yield { galleryId, ...ids, embedding: { values, model: MODEL } };
}

function lineOf({ values, ...ids }: (typeof PEOPLE)[number]): string {
  return `${JSON.stringify({ ...ids, embedding: { values, model: MODEL } })}\n`;
}

/** Connections to the database that are in a transaction. */
async function openTransactions(): Promise<number> {
  if (!postgres) return 0;
  const sql = "select count(*) as count from pg_stat_activity where state like 'idle in transaction%'";
  const [row] = await execute(postgres.url, sql);
  return Number(row!.count);
}

/** Expects that no request, no work and no transaction is left. */
async function expectNothingLeft(timeoutMs = 20_000): Promise<void> {
  expect(await service.waitUntilIdle(timeoutMs)).toBe(0);
  // A client that left ends its request at once, even if the export or import goes on or hangs.
  const running = await until(
    () => service.requestsRunning(),
    (count) => count === 0,
    5_000,
  );
  expect(running).toBe(0);
  expect(await until(openTransactions, (count) => count === 0, 5_000)).toBe(0);
}

/** Opens an export and reads nothing after its first bytes. */
async function openExport(): Promise<Socket> {
  const socket = connect(service.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(`GET /v1/galleries/large:export HTTP/1.1\r\nHost: a\r\nx-api-key: ${USER}\r\n\r\n`);
  await once(socket, "readable");
  return socket;
}

/** Opens an import and sends this many lines. The response is ignored. */
async function openImport(galleryId: string, lines: number) {
  const outgoing = request({
    port: service.port,
    path: `/v1/galleries/${galleryId}:import`,
    method: "POST",
    headers: { "x-api-key": USER },
  });
  outgoing.on("error", () => {});
  for (const person of PEOPLE.slice(0, lines))
    if (!outgoing.write(lineOf(person))) await once(outgoing, "drain");
  return outgoing;
}

describe("an export", () => {
  test("to clients that do not read holds no connection to the database, and ends", async () => {
    const beforeMib = service.residentMib("VmRSS");
    const sockets = await Promise.all(Array.from({ length: EXPORTS }, openExport));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    for (const person of PEOPLE.slice(0, 20))
      expect(await identify(client, "large", person)).toEqual([person.personId]);
    expect((await client.listPeople({ galleryId: "large", pageSize: 10 })).people).toHaveLength(10);
    expect(await service.requestsInFlight()).toBeGreaterThan(DATABASE_CONNECTIONS);
    expect(service.residentMib("VmRSS") - beforeMib).toBeLessThan(MAX_GROWTH_MIB);
    await expectNothingLeft(SLOW_CLIENT_MS);
  }, 120_000);

  test("whose client leaves ends at once", async () => {
    const sockets = await Promise.all(Array.from({ length: EXPORTS }, openExport));
    for (const [i, socket] of sockets.entries()) {
      if (i % 2) socket.resetAndDestroy();
      else socket.destroy();
    }
    const cancellation = new AbortController();
    const exporting = (async () => {
      for await (const _ of client.exportGallery({ galleryId: "large" }, { signal: cancellation.signal }))
        cancellation.abort();
    })();
    await expect(exporting).rejects.toThrow(/abort|cancel/i);
    await expectNothingLeft();
  });
});

describe("an import", () => {
  test("whose client leaves keeps whole batches, and leaves nothing open", async () => {
    await client.createGallery({ galleryId: "left" });
    for (const lines of [1, 99, 100, 101, 260]) {
      const outgoing = await openImport("left", lines);
      await expect.poll(() => service.requestsInFlight()).toBe(1);
      outgoing.destroy();
      await expectNothingLeft();
    }
    const { gallery } = await client.getGallery({ galleryId: "left" });
    expect(gallery!.faceCount % MAX_ENROLMENT_BATCH).toBe(0);
    expect(await client.importFaces(faces("left", PEOPLE.slice(0, 1_300)))).toMatchObject({
      faceCount: 1_300,
    });
    expect((await client.getGallery({ galleryId: "left" })).gallery).toMatchObject({ faceCount: 1_300 });
  });

  test("of many lines takes no more memory than one of few", async () => {
    await client.createGallery({ galleryId: "many" });
    const peaks: number[] = [];
    for (let round = 0; round < 2; round++) {
      const outgoing = await openImport("many", PEOPLE.length);
      outgoing.end();
      const [response] = await once(outgoing, "response");
      response.resume();
      await once(response, "end");
      peaks.push(service.residentMib("VmHWM"));
    }
    expect((await client.getGallery({ galleryId: "many" })).gallery).toMatchObject({
      faceCount: PEOPLE.length,
    });
    expect(peaks[1]! - peaks[0]!).toBeLessThan(MAX_GROWTH_MIB);
    await expectNothingLeft();
  });
});

describe("the search process", () => {
  const [ann] = PEOPLE;

  /** The process that is neither the service nor its worker. */
  async function searchPid(): Promise<number> {
    await identify(client, "large", ann!);
    return Math.max(...service.workerPids());
  }

  test("may be killed again and again: searches fail or are right", async () => {
    await searchPid();
    let isDone = false;
    const outcomes = { right: 0, failed: 0 };
    const search = async (from: number) => {
      for (let i = from; !isDone; i++) {
        const person = PEOPLE[i % PEOPLE.length]!;
        const found = await identify(client, "large", person).catch((error: unknown) => String(error));
        if (typeof found === "string") {
          expect(found).toContain("Galleries cannot be reached");
          outcomes.failed++;
        } else {
          expect(found).toEqual([person.personId]);
          outcomes.right++;
        }
      }
    };
    const searching = Promise.all([0, 1_000, 2_000, 3_000].map(search));
    searching.catch(() => {});
    const [worker] = service.workerPids();
    for (let kills = 0; kills < 8; kills++) {
      const [victim] = await until(
        () => service.workerPids().filter((pid) => pid !== worker),
        (pids) => pids.length > 0,
        20_000,
      );
      const { right } = outcomes;
      process.kill(victim!, "SIGKILL");
      await vi.waitFor(() => expect(outcomes.right).toBeGreaterThan(right + 5), { timeout: 20_000 });
    }
    isDone = true;
    await searching;
    expect(outcomes.failed).toBeGreaterThan(0);
    expect(service.isAlive).toBe(true);
    expect(service.workerPids()).toContain(worker);
    const metrics = await service.metrics();
    expect(metrics.value("visage_search_process_restarts_total")).toBeGreaterThanOrEqual(8);
    expect(metrics.value("visage_gallery_searches_total", { outcome: "unavailable" })).toBe(outcomes.failed);
    await expectNothingLeft();
  }, 120_000);

  test("stays within its memory if galleries are larger than it, together or alone", async () => {
    const ids = Array.from({ length: 5 }, (_, i) => `g${i}`);
    for (const galleryId of ids) {
      await client.createGallery({ galleryId });
      await client.importFaces(faces(galleryId, PEOPLE.slice(0, 2_000)));
    }
    const pid = await searchPid();
    for (let round = 0; round < 3; round++)
      await Promise.all(
        [...ids, ...ids].map(async (galleryId, i) =>
          expect(await identify(client, galleryId, PEOPLE[100 * i]!)).toEqual([PEOPLE[100 * i]!.personId]),
        ),
      );
    expect(await searchPid()).toBe(pid);
    const metrics = await service.metrics();
    expect(metrics.value("visage_gallery_evictions_total")).toBeGreaterThan(0);
    expect(metrics.value("visage_gallery_memory_bytes")).toBeLessThanOrEqual(GALLERY_MEMORY_BYTES);
    await client.importFaces(faces("large", testPeople(4_000, 9, "q")));
    await expect(identify(client, "large", ann!)).rejects.toThrow(/10000 faces/);
    expect(await identify(client, "g0", ann!)).toEqual(["p0"]);
  }, 120_000);
});

describe("at the same time", () => {
  test("enrolments of one face are one face", async () => {
    await client.createGallery({ galleryId: "same" });
    await Promise.all(Array.from({ length: 20 }, () => enrol(client, "same", PEOPLE[0]!)));
    expect((await client.getGallery({ galleryId: "same" })).gallery).toMatchObject({
      peopleCount: 1,
      faceCount: 1,
      revision: 20n,
    });
  });

  test("enrolments of one person never exceed 20 faces", async () => {
    await client.createGallery({ galleryId: "twenty" });
    const outcomes = await Promise.allSettled(
      PEOPLE.slice(0, 50).map(({ values }, i) =>
        enrol(client, "twenty", { personId: "p", faceId: `${i}`, values }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(20);
    const { person } = await client.getPerson({ galleryId: "twenty", personId: "p" });
    expect(person!.faces).toHaveLength(20);
  });
});
