import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { MAX_ENROLMENT_BATCH } from "../../src/galleries/gallery-store.ts";
import { USER } from "../../tools/support/service-process.ts";
import { type EdgeService, startEdgeService } from "../support/edge-service.ts";
import {
  createGalleryClient,
  embeddingSource,
  enrol,
  type GalleryClient,
  identify,
  MODEL,
  type TestPerson,
  testPeople,
} from "../support/galleries.ts";
import { hasPostgres, lockTables, startPostgres, type TestPostgres } from "../support/postgres.ts";
import { startTestService, USER as TRIAL_USER } from "../support/service.ts";

const GRACE_MS = 4_000;
const LATER = { timeout: 20_000, interval: 200 };

let postgres: TestPostgres;
beforeAll(async () => {
  if (hasPostgres) postgres = await startPostgres();
});
afterAll(() => postgres?.remove());

describe.skipIf(!hasPostgres)("while the database is away", () => {
  const [ann, bob] = testPeople(2, 1) as [TestPerson, TestPerson];

  async function start(graceMs: number) {
    const databaseUrl = await postgres.createDatabase();
    const service = await startTestService({
      VISAGE_DATABASE_URL: databaseUrl,
      VISAGE_ACCOUNTS_GRACE_MS: String(graceMs),
    });
    onTestFinished(() => service.close());
    const call = async (method: string, path: string, body?: unknown) => {
      const response = await fetch(`http://127.0.0.1:${service.port}/v1/galleries${path}`, {
        method,
        headers: { "x-api-key": TRIAL_USER },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const { reason } = (await response.json()) as { reason?: string };
      return { status: response.status, retryAfter: response.headers.get("retry-after"), reason };
    };
    const client = createGalleryClient(service, TRIAL_USER);
    await client.createGallery({ galleryId: "g" });
    for (const person of [ann, bob]) await enrol(client, "g", person);
    return { call, client, databaseUrl };
  }

  const identifyAnn = (client: GalleryClient) =>
    client.identifyFaces({ galleryId: "g", source: embeddingSource(ann.values) });

  /** Calls that need the database. */
  const CALLS = [
    ["POST", "", { galleryId: "new" }],
    ["GET", ""],
    ["GET", "/g"],
    ["PATCH", "/g", { displayName: "G" }],
    ["DELETE", "/g"],
    ["POST", "/g/people/p0/faces", { source: { embedding: { values: bob.values, model: MODEL } } }],
    ["GET", "/g/people/p0"],
    ["GET", "/g/people"],
    ["PATCH", "/g/people/p0", { displayName: "P" }],
    ["DELETE", "/g/people/p0"],
    ["DELETE", "/g/people/p0/faces/f"],
    ["GET", "/g:export"],
    ["POST", "/g:import", { personId: "p9", embedding: { values: bob.values, model: MODEL } }],
  ] as const;
  const UNAVAILABLE = { status: 503, retryAfter: "1", reason: "GALLERIES_UNAVAILABLE" };

  test("a search uses what is in memory for the grace period, and all else fails", async () => {
    const { call, client } = await start(GRACE_MS);
    expect(await identifyAnn(client)).toMatchObject({ stale: false, revision: 2n });

    await postgres.stop();
    expect(await identifyAnn(client)).toMatchObject({
      stale: true,
      revision: 2n,
      faces: [{ matches: [{ personId: "p0", displayName: "" }] }],
    });
    for (const [method, path, body] of CALLS)
      expect(await call(method, path, body), `${method} ${path}`).toEqual(UNAVAILABLE);
    await vi.waitFor(async () => {
      const source = { embedding: { values: ann.values, model: MODEL } };
      expect(await call("POST", "/g:identify", { source })).toMatchObject({ status: 503, retryAfter: "1" });
    }, LATER);

    await postgres.start();
    await vi.waitFor(async () => expect(await identifyAnn(client)).toMatchObject({ stale: false }), LATER);
    expect((await client.getGallery({ galleryId: "g" })).gallery).toMatchObject({ faceCount: 2 });
    await client.deletePerson({ galleryId: "g", personId: "p0" });
    expect(await identify(client, "g", ann)).toEqual([]);
    for (const [method, path, body] of CALLS.filter(([, path]) => path !== "/g/people/p0/faces/f"))
      expect((await call(method, path, body)).status, `${method} ${path}`).toBeLessThan(500);
  });

  test("a search of a gallery in memory waits for a database that hangs, but not forever", async () => {
    const { call, client, databaseUrl } = await start(600_000);
    expect(await identifyAnn(client)).toMatchObject({ stale: false });
    const unlock = await lockTables(databaseUrl, "galleries");
    try {
      expect(await identifyAnn(client)).toMatchObject({ stale: true });
      expect(await call("GET", "")).toEqual(UNAVAILABLE);
    } finally {
      await unlock();
    }
    expect(await identifyAnn(client)).toMatchObject({ stale: false });
  });
});

describe.each(["SQLite", "PostgreSQL"])("a service that is killed, with %s", (kind) => {
  const isSkipped = kind === "PostgreSQL" && !hasPostgres;
  const PEOPLE = testPeople(300, 2);

  async function createSettings(): Promise<Readonly<Record<string, string>>> {
    const dataDir = await mkdtemp(join(tmpdir(), "visage-killed-"));
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
    const databaseUrl = kind === "PostgreSQL" ? await postgres.createDatabase() : undefined;
    return { VISAGE_DATA_DIR: dataDir, ...(databaseUrl && { VISAGE_DATABASE_URL: databaseUrl }) };
  }

  async function start(settings: Readonly<Record<string, string>>) {
    const service = await startEdgeService(settings);
    onTestFinished(() => service.stop());
    return { service, client: createGalleryClient(service, USER) };
  }

  async function kill(service: EdgeService): Promise<void> {
    process.kill(service.pid, "SIGKILL");
    await service.exitCode;
  }

  async function exportAll(client: GalleryClient): Promise<string[]> {
    const ids: string[] = [];
    for await (const { personId } of client.exportGallery({ galleryId: "g" })) ids.push(personId);
    return ids;
  }

  test.skipIf(isSkipped)("has every face whose enrolment it answered, once", async () => {
    const settings = await createSettings();
    const { service, client } = await start(settings);
    await client.createGallery({ galleryId: "g" });
    const answered: TestPerson[] = [];
    const waiting = [...PEOPLE];
    const enrolAll = async () => {
      for (let person = waiting.shift(); person; person = waiting.shift()) {
        await enrol(client, "g", person);
        answered.push(person);
        if (answered.length === 100) process.kill(service.pid, "SIGKILL");
      }
    };
    await Promise.allSettled(Array.from({ length: 8 }, enrolAll));
    await service.exitCode;
    expect(answered.length).toBeGreaterThanOrEqual(100);
    expect(answered.length).toBeLessThan(PEOPLE.length);

    const { client: next } = await start(settings);
    const stored = new Set(await exportAll(next));
    expect(answered.filter(({ personId }) => !stored.has(personId))).toEqual([]);
    for (const person of answered.slice(-10))
      expect(await identify(next, "g", person)).toEqual([person.personId]);
    for (const person of PEOPLE) await enrol(next, "g", person);
    expect((await exportAll(next)).toSorted()).toEqual(PEOPLE.map(({ personId }) => personId).toSorted());
    expect((await next.getGallery({ galleryId: "g" })).gallery).toMatchObject({
      peopleCount: PEOPLE.length,
      faceCount: PEOPLE.length,
    });
  });

  test.skipIf(isSkipped)("loses nothing of an import that is repeated, and has nothing twice", async () => {
    const settings = await createSettings();
    const { service, client } = await start(settings);
    await client.createGallery({ galleryId: "g" });
    const many = testPeople(2_500, 3);
    async function* faces(until: number) {
      for (const [i, { values, ...ids }] of many.entries()) {
        if (i === until) await kill(service);
        yield { galleryId: "g", ...ids, embedding: { values, model: MODEL } };
      }
    }
    await expect(client.importFaces(faces(1_700))).rejects.toThrow();

    const { client: next } = await start(settings);
    const before = await exportAll(next);
    expect(before.length).toBeGreaterThan(0);
    expect(before.length % MAX_ENROLMENT_BATCH).toBe(0);
    expect(await next.importFaces(faces(Number.POSITIVE_INFINITY))).toMatchObject({ faceCount: 2_500 });
    expect((await exportAll(next)).toSorted()).toEqual(many.map(({ personId }) => personId).toSorted());
    expect((await next.getGallery({ galleryId: "g" })).gallery).toMatchObject({
      peopleCount: 2_500,
      faceCount: 2_500,
    });
  });
});
