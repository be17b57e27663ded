import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/database/open-database.ts";
import { openMilvus } from "../../src/galleries/milvus/open-milvus.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import { USER } from "../../tools/support/service-process.ts";
import { type EdgeService, startEdgeService } from "../support/edge-service.ts";
import {
  createGalleryClient,
  embeddingSource,
  enrol,
  errorOf,
  type GalleryClient,
  identify,
  MODEL,
  type TestPerson,
  testPeople,
} from "../support/galleries.ts";
import { type Comparison, compare, hasMilvus, startMilvus, type TestMilvus } from "../support/milvus.ts";

const UNAVAILABLE = ["Unavailable", "GALLERIES_UNAVAILABLE"];
/** A process that was killed keeps its lease for 20 s. */
const LATER = { timeout: 60_000, interval: 200 };
const MIB = 1024 * 1024;

let milvus: TestMilvus;
beforeAll(async () => {
  if (hasMilvus) milvus = await startMilvus();
});
afterAll(() => milvus?.remove());

describe.skipIf(!hasMilvus)("a service with Milvus", () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "visage-milvus-faults-"));
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  });

  async function start() {
    const service = await startEdgeService({
      VISAGE_DATA_DIR: dataDir,
      VISAGE_LOG_LEVEL: "off",
      ...milvus.env,
    });
    onTestFinished(() => service.stop());
    return { service, client: createGalleryClient(service, USER) };
  }

  /** Compares what Milvus has of a gallery with the database. */
  async function compareWithDatabase(gallery: { key: string }): Promise<Comparison> {
    const database = await openDatabase({ databaseUrl: undefined, dataDir });
    try {
      const store = createSqlGalleryStore(database);
      return await compare(openMilvus(milvus.settings, { database, store }), store, {
        ...gallery,
        model: MODEL,
      });
    } finally {
      await database.close();
    }
  }

  async function keyOf(galleryId: string): Promise<{ key: string }> {
    const database = await openDatabase({ databaseUrl: undefined, dataDir });
    try {
      const [row] = await database.query({
        sql: "select key from galleries where id = $1",
        values: [galleryId],
      });
      return { key: String(row!.key) };
    } finally {
      await database.close();
    }
  }

  const importPeople = (client: GalleryClient, people: readonly TestPerson[]) =>
    client.importFaces(
      (async function* () {
        for (const { values, ...ids } of people)
          yield { galleryId: "g", ...ids, embedding: { values, model: MODEL } };
      })(),
    );

  test("starts without it, serves all else, and searches when it is there", async () => {
    await milvus.kill9();
    const { service, client } = await start();
    for (const probe of ["healthz", "readyz"])
      expect((await fetch(`http://127.0.0.1:${service.port}/${probe}`)).status, probe).toBe(200);
    const [ann, bob] = testPeople(2, 1) as [TestPerson, TestPerson];
    await client.createGallery({ galleryId: "g" });
    for (const person of [ann, bob]) await enrol(client, "g", person);
    expect(await errorOf(identify(client, "g", ann))).toEqual(UNAVAILABLE);
    expect(await client.deletePerson({ galleryId: "g", personId: bob.personId })).toMatchObject({
      erasureFinished: false,
    });
    await milvus.start();
    await expect.poll(() => identify(client, "g", ann).catch(String), LATER).toEqual([ann.personId]);
    expect(await identify(client, "g", bob)).toEqual([]);
  });

  test("loses nothing while it is killed and started again, and is never wrong", async () => {
    const { client } = await start();
    await client.createGallery({ galleryId: "g" });
    const people = testPeople(120, 2);
    const waiting = [...people];
    const outcomes = new Set<string>();
    const work = async () => {
      for (let person = waiting.shift(); person; person = waiting.shift()) {
        await enrol(client, "g", person);
        const isDeleted = people.indexOf(person) % 4 === 3;
        if (isDeleted) await client.deletePerson({ galleryId: "g", personId: person.personId });
        const found = await identify(client, "g", person).catch((error: unknown) => String(error));
        outcomes.add(Array.isArray(found) ? "found" : found);
        if (Array.isArray(found)) expect(found).toEqual(isDeleted ? [] : [person.personId]);
      }
    };
    const working = Promise.all(Array.from({ length: 4 }, work));
    for (const left of [90, 50]) {
      await expect.poll(() => waiting.length, LATER).toBeLessThan(left);
      await milvus.kill9();
      await milvus.start();
    }
    await working;
    expect([...outcomes].filter((outcome) => !/^found$|\[unavailable\]/.test(outcome))).toEqual([]);
    const gallery = await keyOf("g");
    await expect
      .poll(() => compareWithDatabase(gallery).catch(String), LATER)
      .toEqual({
        rows: 90,
        faces: 90,
        equal: 90,
      });
    expect(await identify(client, "g", people[0]!)).toEqual(["p0"]);
  });

  test("ends searches at their deadline while it is stopped, with bounded memory, and serves all else", async () => {
    const { service, client } = await start();
    await client.createGallery({ galleryId: "g" });
    const people = testPeople(4, 3) as [TestPerson, ...TestPerson[]];
    await enrol(client, "g", people[0]);
    expect(await identify(client, "g", people[0])).toEqual(["p0"]);
    milvus.pause();
    onTestFinished(() => milvus.resume());
    const searchAll = () =>
      Promise.all(
        Array.from({ length: 200 }, () =>
          errorOf(
            client.identifyFaces(
              { galleryId: "g", source: embeddingSource(people[0].values) },
              { timeoutMs: 2_000 },
            ),
          ).then(([code]) => code),
        ),
      );
    const codes = new Set(await searchAll());
    const before = searchMemory(service);
    for (let round = 0; round < 3; round++) for (const code of await searchAll()) codes.add(code);
    expect([...codes].filter((code) => !["DeadlineExceeded", "Unavailable"].includes(code))).toEqual([]);
    expect(searchMemory(service) - before).toBeLessThan(50 * MIB);
    expect((await fetch(`http://127.0.0.1:${service.port}/readyz`)).status).toBe(200);
    await enrol(client, "g", people[1]!);
    expect(await client.deletePerson({ galleryId: "g", personId: "p0" })).toMatchObject({
      deletions: [{ galleryId: "g", faceCount: 1 }],
    });
    expect((await client.getGallery({ galleryId: "g" })).gallery).toMatchObject({ faceCount: 1 });
    milvus.resume();
    await expect.poll(() => identify(client, "g", people[1]!).catch(String), LATER).toEqual(["p1"]);
    expect(await identify(client, "g", people[0])).toEqual([]);
  });

  test("goes on with a large write whose process was killed", async () => {
    const { service, client } = await start();
    await client.createGallery({ galleryId: "g" });
    const people = testPeople(20_000, 4);
    await milvus.kill9();
    await importPeople(client, people);
    await milvus.start();
    const gallery = await keyOf("g");
    const countRows = () =>
      openMilvusTemplates()
        .countFaces({ ...gallery, model: MODEL })
        .catch(() => 0);
    await expect.poll(countRows, { ...LATER, interval: 20 }).toBeGreaterThan(0);
    process.kill(searchPid(service)!, "SIGKILL");
    const rows = await countRows();
    expect(rows).toBeLessThan(people.length);
    await expect.poll(() => identify(client, "g", people[7]!).catch(String), LATER).toEqual(["p7"]);
    expect(await compareWithDatabase(gallery)).toEqual({ rows: 20_000, faces: 20_000, equal: 20_000 });
  });

  test("that is killed before a deletion has reached it deletes the person after its start", async () => {
    const { service, client } = await start();
    await client.createGallery({ galleryId: "g" });
    const people = testPeople(2, 5);
    for (const person of people) await enrol(client, "g", person);
    const gallery = await keyOf("g");
    await expect.poll(() => compareWithDatabase(gallery)).toMatchObject({ rows: 2, equal: 2 });
    milvus.pause();
    await client.deletePerson({ galleryId: "g", personId: "p0" });
    process.kill(service.pid, "SIGKILL");
    await service.exitCode;
    milvus.resume();
    expect(await compareWithDatabase(gallery)).toMatchObject({ rows: 2, faces: 1 });
    await start();
    await expect.poll(() => compareWithDatabase(gallery), LATER).toEqual({ rows: 1, faces: 1, equal: 1 });
  });

  function openMilvusTemplates() {
    return openMilvus(milvus.settings, { database: {} as never, store: {} as never }).templates;
  }
});

/** The id of the search process of a service. */
function searchPid({ pid }: EdgeService): number | undefined {
  return readdirSync("/proc")
    .map(Number)
    .find((id) => readProc(id, "cmdline").includes("search-program") && parentOf(id) === pid);
}

/** The memory of the search process of a service in bytes. */
function searchMemory(service: EdgeService): number {
  return 1024 * Number(/VmRSS:\s+(\d+) kB/.exec(readProc(searchPid(service)!, "status"))![1]);
}

function parentOf(id: number): number {
  return Number(/PPid:\s+(\d+)/.exec(readProc(id, "status"))?.[1]);
}

/** A file of a process; empty if it has ended. */
function readProc(id: number, name: string): string {
  try {
    return readFileSync(`/proc/${id}/${name}`, "utf8");
  } catch {
    return "";
  }
}
