import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import type { SqlDatabase } from "../../src/database/sql-database.ts";
import { GalleryIndexes, type GalleryIndexesOptions } from "../../src/galleries/gallery-indexes.ts";
import type { Gallery, GalleryStore } from "../../src/galleries/gallery-store.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import { MODEL, NO_LIMITS, newFace } from "../support/gallery-contract.ts";
import { addUser, createUser } from "../support/store-contract.ts";

const ANN = createUser("ann");
const FACES = Array.from({ length: 8 }, (_, i) => newFace(`p${i}`));
/** As docs/galleries.md says. */
const DEFAULT_MAX_GALLERIES = 1_000;

let folder: string;
let database: SqlDatabase;
let store: GalleryStore;
/** Each with one face of FACES. */
const galleries: Gallery[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "visage-indexes-"));
  const location = { databaseUrl: undefined, dataDir: folder };
  const accounts = await openAccountStore(location);
  await addUser(accounts, ANN);
  await accounts.close();
  database = await openDatabase(location);
  store = createSqlGalleryStore(database);
  for (const face of FACES) {
    const id = `of-${face.personId}`;
    const gallery = { id, displayName: "", model: MODEL, maxDistance: undefined };
    await store.createGallery(ANN.id, gallery, NO_LIMITS);
    galleries.push(await store.enrolFaces(ANN.id, id, MODEL, [face], NO_LIMITS));
  }
});
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

const createIndexes = (options: Partial<GalleryIndexesOptions> = {}) =>
  new GalleryIndexes({ store, maxBytes: 1e9, maxWaitMs: 60_000, ...options });

/** Updates the index of a gallery and finds its only face. */
async function findPerson(indexes: GalleryIndexes, i: number): Promise<string | undefined> {
  const open = await indexes.update(galleries[i]!.id, galleries[i]!);
  const query = { embedding: FACES[i]!.embedding, maxPeople: 1, within: 1e-3 };
  const [scan] = await open.scan(ANN.id, [query], undefined);
  return scan!.candidates[0]?.personId;
}

const keptIn = (indexes: GalleryIndexes) => galleries.flatMap(({ id }, i) => (indexes.find(id) ? [i] : []));

test("no more indexes are kept than allowed, and the least recently used is dropped first", async () => {
  let evictions = 0;
  const indexes = createIndexes({ maxGalleries: 3, onEviction: () => evictions++ });
  for (const i of [0, 1, 2, 0, 3]) expect(await findPerson(indexes, i)).toBe(`p${i}`);
  expect(keptIn(indexes)).toEqual([0, 2, 3]);
  expect(evictions).toBe(1);
  expect(await findPerson(indexes, 1)).toBe("p1");
  expect(keptIn(indexes)).toEqual([0, 1, 3]);
  expect(indexes.size).toMatchObject({ galleries: 3, faces: 3 });
});

test("indexes that are read at the same time wait for room", async () => {
  const sizes: number[] = [];
  const indexes: GalleryIndexes = createIndexes({
    maxGalleries: 2,
    store: {
      ...store,
      readChanges: (...since) => {
        sizes.push(indexes.size.galleries);
        return store.readChanges(...since);
      },
    },
  });
  const rounds = [0, 1, 2, 3, 4, 5, 6, 7, 0, 3, 7, 1];
  const found = await Promise.all(rounds.map((i) => findPerson(indexes, i)));
  expect(found).toEqual(rounds.map((i) => `p${i}`));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(2);
  expect(indexes.size.galleries).toBe(2);
});

test("an index that cannot be read leaves its room to the next", async () => {
  let reads = 0;
  const readChanges: GalleryStore["readChanges"] = async (...since) => {
    if (++reads <= 4) throw new Error("away");
    return store.readChanges(...since);
  };
  const outcomesOfLoads: string[] = [];
  const onLoad = (outcome: string) => outcomesOfLoads.push(outcome);
  const indexes = createIndexes({ maxGalleries: 1, store: { ...store, readChanges }, onLoad });
  const outcomes = await Promise.allSettled(galleries.map((_, i) => findPerson(indexes, i)));
  expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(4);
  expect(indexes.size.galleries).toBe(1);
  expect(await findPerson(indexes, 0)).toBe("p0");
  expect(keptIn(indexes)).toEqual([0]);
  expect(outcomesOfLoads.toSorted()).toEqual([...Array(4).fill("failed"), ...Array(5).fill("ok")]);
});

test(`by default ${DEFAULT_MAX_GALLERIES} indexes are kept`, async () => {
  const indexes = createIndexes();
  for (let i = 0; i < DEFAULT_MAX_GALLERIES + 5; i++) await indexes.update(`g${i}`, galleries[0]!);
  expect(indexes.size.galleries).toBe(DEFAULT_MAX_GALLERIES);
  expect([indexes.find("g4"), indexes.find("g5")]).toEqual([undefined, expect.anything()]);
});
