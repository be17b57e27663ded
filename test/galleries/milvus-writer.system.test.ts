// What Milvus has after kills, outages and processes that write at the same time.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { readFalseMatchRates } from "../../src/core/index.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import type { SqlDatabase } from "../../src/database/sql-database.ts";
import { GallerySearch } from "../../src/galleries/gallery-search.ts";
import type { Gallery, GalleryStore, NewFace } from "../../src/galleries/gallery-store.ts";
import type { MilvusSettings } from "../../src/galleries/milvus/milvus-client.ts";
import { type MilvusEngine, openMilvus } from "../../src/galleries/milvus/open-milvus.ts";
import { EngineError } from "../../src/galleries/searchable-galleries.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import { MODEL, NO_LIMITS, newFace } from "../support/gallery-contract.ts";
import { compare, hasMilvus, startMilvus, type TestMilvus } from "../support/milvus.ts";
import { startRefusingServer, startTcpProxy } from "../support/milvus-proxy.ts";
import { hasPostgres, startPostgres, type TestPostgres } from "../support/postgres.ts";
import { addUser, createUser } from "../support/store-contract.ts";

const ANN = createUser("ann");
const LATER = { timeout: 60_000 };
const NEVER = new AbortController().signal;

let milvus: TestMilvus;
let postgres: TestPostgres | undefined;
beforeAll(async () => {
  if (hasMilvus) milvus = await startMilvus();
  if (hasMilvus && hasPostgres) postgres = await startPostgres();
});
afterAll(async () => {
  await milvus?.remove();
  await postgres?.remove();
});

/** A process that uses a database and Milvus. */
interface Replica {
  readonly store: GalleryStore;
  readonly database: SqlDatabase;
  readonly engine: MilvusEngine;
  /** The people with exactly this template. */
  find(face: NewFace): Promise<string[]>;
}

const kinds = ["SQLite", ...(hasPostgres ? ["PostgreSQL"] : [])];
describe.skipIf(!hasMilvus).each(kinds)("Milvus and %s", (kind) => {
  let location: { readonly databaseUrl: string | undefined; readonly dataDir: string };
  let one: Replica;

  beforeEach(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "visage-writer-"));
    onTestFinished(() => rm(dataDir, { recursive: true }));
    const databaseUrl = kind === "SQLite" ? undefined : await postgres!.createDatabase();
    location = { databaseUrl, dataDir };
    const accounts = await openAccountStore(location);
    await addUser(accounts, ANN);
    await accounts.close();
    one = await openReplica();
    await create("g");
  });

  async function openReplica({
    settings = milvus.settings,
    readChanges,
  }: {
    settings?: MilvusSettings;
    readChanges?: GalleryStore["readChanges"];
  } = {}): Promise<Replica> {
    const database = await openDatabase(location);
    onTestFinished(() => database.close());
    const store = createSqlGalleryStore(database);
    const engine = openMilvus(settings, {
      database,
      store: { ...store, ...(readChanges && { readChanges }) },
    });
    const indexes = engine.galleries;
    const search = new GallerySearch({ store, indexes, rates: readFalseMatchRates(), graceMs: 60_000 });
    const find = async ({ embedding }: NewFace) => {
      const probes = [{ embedding, populations: ["adults"] as const }];
      const request = { userId: ANN.id, galleryId: "g", probes, model: MODEL, maxResults: 5 };
      const { faces } = await search.search({ ...request, maxDistance: 1e-3 });
      return faces[0]!.matches.map(({ personId }) => personId);
    };
    return { store, database, engine, find };
  }

  const create = (id: string) =>
    one.store.createGallery(ANN.id, { id, displayName: "", model: MODEL, maxDistance: undefined }, NO_LIMITS);
  const enrol = (faces: readonly NewFace[], id = "g") =>
    one.store.enrolFaces(ANN.id, id, MODEL, faces, NO_LIMITS);
  const remove = async (personId: string): Promise<Gallery> => {
    await one.store.deletePerson(ANN.id, "g", personId);
    return one.store.getGallery(ANN.id, "g");
  };
  const compareWithDatabase = async () =>
    compare(one.engine, one.store, await one.store.getGallery(ANN.id, "g"));

  /** A gate in front of the page that is read first: it has been read, and is not written until it is opened. */
  function createGate() {
    let open = () => {};
    let arrive = () => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    const readChanges: GalleryStore["readChanges"] = async (...since) => {
      const changes = await one.store.readChanges(...since);
      arrive();
      await opened;
      return changes;
    };
    return { readChanges, arrived, open };
  }

  test("a page that is written late does not bring back who has been deleted", async () => {
    const before = await enrol([newFace("p"), newFace("q")]);
    const { readChanges, arrived, open } = createGate();
    const slow = await openReplica({ readChanges });
    const writing = slow.engine.writer.follow(before);
    await arrived;
    const after = await remove("p");
    // The other one must wait. Otherwise it ends before the page is written.
    const following = one.engine.writer.follow(after);
    await Promise.race([following, sleep(500)]);
    open();
    await Promise.all([writing, following]);
    expect(await compareWithDatabase()).toEqual({ rows: 1, faces: 1, equal: 1 });
  });

  test("a process whose lease has been taken over writes no more", async () => {
    const before = await enrol([newFace("p"), newFace("q")]);
    const { readChanges, arrived, open } = createGate();
    const slow = await openReplica({ readChanges });
    const writing = slow.engine.writer.follow(before);
    writing.catch(() => {});
    await arrived;
    const after = await remove("p");
    // As if the process had been stopped for longer than the lease.
    await one.database.runTransaction(
      (function* () {
        yield { sql: "update engine_galleries set held_until = 1" };
      })(),
    );
    await one.engine.writer.follow(after);
    open();
    await expect(writing).rejects.toThrow("Another process has taken over");
    expect(await compareWithDatabase()).toEqual({ rows: 1, faces: 1, equal: 1 });
  });

  test("who was written to Milvus by a page without progress is deleted by the next writer", async () => {
    const gallery = await enrol([newFace("p"), newFace("q")]);
    const page = await one.store.readChanges(gallery.key, { until: -1, version: undefined });
    if (typeof page === "string") throw new Error(page);
    // A process wrote the templates of a page and was killed. Then a person is deleted.
    await one.engine.templates.prepare(MODEL);
    await one.engine.templates.apply(gallery, page, async () => {});
    const after = await remove("p");
    await one.engine.writer.follow(after);
    expect(await compareWithDatabase()).toEqual({ rows: 1, faces: 1, equal: 1 });
  });

  test("a process that is killed before a page is written leaves no progress that claims it", async () => {
    const face = newFace("p");
    const gallery = await enrol([face]);
    const { engine } = await openReplica();
    engine.templates.apply = () => Promise.reject(new Error("killed"));
    await expect(engine.writer.follow(gallery)).rejects.toThrow("killed");
    expect(await one.find(face)).toEqual(["p"]);
    expect(await compareWithDatabase()).toEqual({ rows: 1, faces: 1, equal: 1 });
  });

  test("a search fails, instead of finding who has been deleted, if Milvus refuses the deletion", async () => {
    const face = newFace("p");
    await enrol([face, newFace("q")]);
    expect(await one.find(face)).toEqual(["p"]);
    await remove("p");
    one.engine.templates.apply = () => Promise.reject(new EngineError("refused", "refused"));
    await expect(one.find(face)).rejects.toThrow("refused");
  });

  test("a face that only Milvus has is not found", async () => {
    const [face, ghost] = [newFace("p"), newFace("ghost")];
    const gallery = await enrol([face]);
    await one.engine.writer.follow(gallery);
    const added = { ids: Buffer.from("ghost/1"), embeddings: ghost.embedding };
    await one.engine.templates.apply(gallery, { removed: [], added }, async () => {});
    expect(await compareWithDatabase()).toEqual({ rows: 2, faces: 1, equal: 1 });
    expect([await one.find(ghost), await one.find(face)]).toEqual([[], ["p"]]);
  });

  test("after concurrent changes and writes Milvus has the faces of the database", async () => {
    const other = await openReplica();
    const faces = Array.from({ length: 60 }, (_, i) => newFace(`p${i % 20}`, `${Math.floor(i / 20)}`));
    let isDone = false;
    const change = async (some: readonly NewFace[]) => {
      for (const [i, face] of some.entries()) {
        await enrol([face]);
        if (i % 3 === 1) await enrol([{ ...face, embedding: newFace("x").embedding }]);
        if (i % 3 === 2) await remove(face.personId);
      }
    };
    const follow = async ({ engine, find }: Replica, i: number) => {
      while (!isDone) {
        await engine.sync(NEVER);
        await find(faces[i]!);
      }
    };
    const following = Promise.all([follow(one, 1), follow(other, 2)]);
    await Promise.all([change(faces.slice(0, 30)), change(faces.slice(30))]).finally(() => {
      isDone = true;
    });
    await following;
    await other.engine.sync(NEVER);
    const { faces: count, rows, equal } = await compareWithDatabase();
    expect(count).toBeGreaterThan(0);
    expect([rows, equal]).toEqual([count, count]);
  });

  test("what is deleted leaves Milvus without any search", async () => {
    await enrol([newFace("p"), newFace("q")]);
    await create("h");
    const h = await enrol([newFace("r")], "h");
    await one.engine.sync(NEVER);
    const g = await one.store.getGallery(ANN.id, "g");
    expect(await Promise.all([g, h].map((some) => one.engine.templates.countFaces(some)))).toEqual([2, 1]);
    await one.store.deletePerson(ANN.id, "g", "p");
    await one.store.deleteGallery(ANN.id, "h");
    const next = await openReplica();
    await next.engine.sync(NEVER);
    expect(await Promise.all([g, h].map((some) => one.engine.templates.countFaces(some)))).toEqual([1, 0]);
    const accounts = await openAccountStore(location);
    await accounts.removeUser(ANN.id);
    await accounts.close();
    await next.engine.sync(NEVER);
    expect(await one.engine.templates.countFaces(g)).toBe(0);
    expect(await one.database.query({ sql: "select * from engine_galleries" })).toEqual([]);
  });

  test("a Milvus that has lost its data gets it again", async () => {
    const face = newFace("p");
    const gallery = await enrol([face]);
    expect(await one.find(face)).toEqual(["p"]);
    await milvus.kill9();
    milvus.clear();
    await expect(one.find(face)).rejects.toMatchObject({ name: "EngineError" });
    await milvus.start();
    await expect.poll(() => one.find(face).catch(String), LATER).toEqual(["p"]);
    // Another process makes the collections anew, so that no search fails.
    const other = await openReplica();
    await other.engine.templates.drop(MODEL);
    await create("h");
    await other.engine.writer.follow(await enrol([newFace("q")], "h"));
    await one.engine.galleries.verify();
    expect(await one.find(face)).toEqual(["p"]);
    expect(await compare(one.engine, one.store, gallery)).toEqual({ rows: 1, faces: 1, equal: 1 });
  });
});

describe.skipIf(!hasMilvus)("a connection to Milvus", () => {
  const connectTo = (changes: Partial<MilvusSettings>) => {
    const database = {} as SqlDatabase;
    const store = {} as GalleryStore;
    return openMilvus({ ...milvus.settings, ...changes }, { database, store }).templates;
  };

  test("has TLS with a certificate that is trusted", async () => {
    const proxy = await startTcpProxy(milvus.url, { tls: true });
    onTestFinished(() => proxy.close());
    await expect(connectTo({ url: proxy.url }).prepare(MODEL)).rejects.toMatchObject({
      name: "EngineError",
      message: expect.stringMatching(/certificate/),
    });
    await connectTo({ url: proxy.url, ca: proxy.cert }).prepare(MODEL);
  });

  test("sends the token and the database, and reports a refusal without them", async () => {
    const server = await startRefusingServer();
    onTestFinished(() => server.close());
    const templates = connectTo({ url: server.url, token: "root:secret", database: "faces" });
    const error = await templates.prepare(MODEL).catch((fault: unknown) => fault as Error);
    expect(error).toMatchObject({
      name: "EngineError",
      message: expect.stringMatching(/auth check failure/),
    });
    expect((error as Error).message).not.toMatch(/secret/);
    expect(server.requests).toMatchObject([
      { authorization: Buffer.from("root:secret").toString("base64"), dbname: "faces" },
    ]);
  });

  test("that is lost without notice is replaced", async () => {
    const proxy = await startTcpProxy(milvus.url);
    onTestFinished(() => proxy.close());
    const templates = connectTo({ url: proxy.url });
    await templates.prepare(MODEL);
    proxy.freeze();
    const read = () => templates.readProgress(MODEL, ["g"]).then(() => "ok", String);
    await expect.poll(read, LATER).toBe("ok");
  });
});
