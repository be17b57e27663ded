import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { runOne } from "../../src/database/delete-in-batches.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import type { ErasureCallbacks } from "../../src/database/sql-database.ts";
import type { GalleryStore } from "../../src/galleries/gallery-store.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import { describeEncryptionContract, OLD } from "../support/encryption-contract.ts";
import { describeGalleryContract, MODEL, NO_LIMITS, newFace } from "../support/gallery-contract.ts";
import { describeExpiryContract } from "../support/gallery-expiry-contract.ts";
import { addUser, createUser, type StoreKind } from "../support/store-contract.ts";

let folder: string;
let folders = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "visage-galleries-"));
});
afterAll(() => rm(folder, { recursive: true }));

const FOREVER = Number.POSITIVE_INFINITY;
const createLocation = async () => ({ databaseUrl: undefined, dataDir: join(folder, `${++folders}`) });

const SQLITE: StoreKind = {
  createLocation,
  executeAt: async ({ dataDir }, sql) => {
    const file = new Database(join(dataDir, "accounts.db"));
    file.exec("pragma busy_timeout = 5000");
    const rows = file.prepare(sql).all([]) as Record<string, unknown>[];
    file.close();
    return rows;
  },
};
describeGalleryContract("SQLite", SQLITE);
describeGalleryContract("SQLite with encryption", SQLITE, OLD);
describeEncryptionContract("SQLite", SQLITE);
describeExpiryContract("SQLite", SQLITE);

describe("a deletion leaves no trace of a template in any file", () => {
  const ann = createUser("ann");
  const faces = Array.from({ length: 200 }, (_, i) => newFace(`p${i % 20}`, `${i}`));
  const DELETIONS: Readonly<Record<string, (store: GalleryStore) => Promise<unknown>>> = {
    "of its face": async (store) => {
      for (const { personId, faceId } of faces) await store.deleteFace(ann.id, "g", personId, faceId);
    },
    "of its person": async (store) => {
      for (const personId of new Set(faces.map((face) => face.personId)))
        await store.deletePerson(ann.id, "g", personId);
    },
    "of its gallery": (store) => store.deleteGallery(ann.id, "g"),
    "by another one": async (store) => {
      const others = faces.map(({ personId, faceId }) => newFace(personId, faceId));
      await store.enrolFaces(ann.id, "g", MODEL, others, NO_LIMITS);
    },
  };

  test.each([...Object.entries(DELETIONS), ["of its user", undefined] as const])("%s", async (_, remove) => {
    const { accounts, store, dataDir } = await openEnrolled();
    expect(await countTraces(dataDir)).toBe(faces.length);
    if (remove) await remove(store);
    else await accounts.removeUser(ann.id);
    expect(await (remove ? store : accounts).waitForErasure(FOREVER)).toBe(true);
    expect(await countTraces(dataDir)).toBe(0);
  });

  describe("while another process reads the file", () => {
    /** Starts to read a file like a backup. Returns a function that ends it. */
    function startBackup(dataDir: string): () => void {
      const backup = new Database(join(dataDir, "accounts.db"));
      onTestFinished(() => void backup.close());
      backup.exec("begin");
      expect(backup.prepare("select count(*) as count from gallery_faces").all([])).toEqual([{ count: 200 }]);
      return () => backup.exec("rollback");
    }

    const reports: string[] = [];
    const callbacks = {
      onErasureDelay: (cause: unknown) => reports.push(String(cause)),
      onErasureEnd: () => reports.push("finished"),
    };

    test.each(Object.entries(DELETIONS))("is done at once: %s", async (_, remove) => {
      reports.length = 0;
      const { database, store, dataDir } = await openEnrolled(callbacks);
      const endBackup = startBackup(dataDir);
      await remove(store);
      expect(await store.waitForErasure()).toBe(false);
      expect(await countTraces(dataDir)).toBe(200);
      await expect.poll(() => database.isErasureDelayed, { timeout: 10_000 }).toBe(true);
      // Others do not wait for it.
      expect(await store.waitForErasure()).toBe(false);
      await store.deleteGallery(ann.id, "g").catch((error) => expect(error.kind).toBe("galleryNotFound"));
      await expect(store.getPerson(ann.id, "g", "p0")).rejects.toMatchObject({ kind: "galleryNotFound" });
      endBackup();
      await expect.poll(() => countTraces(dataDir), { timeout: 10_000 }).toBe(0);
      await expect
        .poll(() => reports, { timeout: 10_000 })
        .toEqual([
          "Error: Another process uses the file, so its write-ahead log cannot be emptied.",
          "finished",
        ]);
      expect(database.isErasureDelayed).toBe(false);
    });

    test("waits for nothing else: the database is closed meanwhile", async () => {
      const { database, store, dataDir } = await openEnrolled();
      startBackup(dataDir);
      await store.deletePerson(ann.id, "g", "p0");
      await database.close();
      const reopened = await openDatabase({ databaseUrl: undefined, dataDir });
      onTestFinished(() => reopened.close());
      await expect(createSqlGalleryStore(reopened).getPerson(ann.id, "g", "p0")).rejects.toMatchObject({
        kind: "personNotFound",
      });
    });
  });

  test("at the next start, if the process is killed before it has erased the rows", async () => {
    const { database, store, dataDir } = await openEnrolled();
    await database.runTransaction(runOne("delete from gallery_people where id = $1", ["p0"]));
    expect(await countTraces(dataDir)).toBe(200);
    store.finishDeletions();
    expect(await store.waitForErasure(FOREVER)).toBe(true);
    expect(await countTraces(dataDir)).toBe(190);
  });

  async function openEnrolled(callbacks: ErasureCallbacks = {}) {
    const location = await createLocation();
    const accounts = await openAccountStore(location);
    onTestFinished(() => accounts.close());
    await addUser(accounts, ann);
    const database = await openDatabase(location, callbacks);
    onTestFinished(() => database.close());
    const store = createSqlGalleryStore(database);
    const gallery = { id: "g", displayName: "", model: MODEL, maxDistance: undefined };
    await store.createGallery(ann.id, gallery, NO_LIMITS);
    await store.enrolFaces(ann.id, "g", MODEL, faces, NO_LIMITS);
    return { accounts, database, store, dataDir: location.dataDir };
  }

  /** Counts the templates of which a file of the folder has the first 64 bytes. */
  async function countTraces(dataDir: string): Promise<number> {
    const files = await Promise.all((await readdir(dataDir)).map((name) => readFile(join(dataDir, name))));
    return faces.filter(({ embedding }) => {
      const start = Buffer.from(embedding.buffer, embedding.byteOffset, 64);
      return files.some((file) => file.includes(start));
    }).length;
  }
});
