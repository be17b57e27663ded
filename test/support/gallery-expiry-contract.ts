import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import type { SqlDatabase } from "../../src/database/sql-database.ts";
import { deletePersonFromAll } from "../../src/galleries/delete-person.ts";
import { ExpirySweep } from "../../src/galleries/expiry-sweep.ts";
import { GalleryIndex } from "../../src/galleries/gallery-index.ts";
import {
  type GalleryErrorKind,
  type GalleryStore,
  MAX_ENROLMENT_BATCH,
  type NewFace,
} from "../../src/galleries/gallery-store.ts";
import { type Expiry, ExpiryRemoval } from "../../src/galleries/sql-expiry.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import { MODEL, NO_LIMITS, newFace } from "./gallery-contract.ts";
import { addUser, createUser, type StoreKind } from "./store-contract.ts";

const ANN = createUser("ann");
const FOREVER = Number.POSITIVE_INFINITY;
const NEVER = new AbortController().signal;
const DAY_MS = 86_400_000;
const START = new Date("2026-01-01T00:00:00Z");
const inDays = (days: number) => new Date(START.getTime() + days * DAY_MS);

/** How gallery stores let people and galleries expire, and find a person in all galleries, as tests. */
export function describeExpiryContract(kind: string, { createLocation, executeAt }: StoreKind): void {
  describe(`time in the gallery store on ${kind}`, () => {
    let location: Awaited<ReturnType<typeof createLocation>>;
    let store: GalleryStore;
    let now: Date;
    let expired: Expiry[];

    beforeEach(async () => {
      [now, expired] = [START, []];
      location = await createLocation();
      const accounts = await openAccountStore(location);
      await addUser(accounts, ANN);
      await accounts.close();
      store = await openStore();
      await createGallery("g");
    });

    async function openStore(
      onExpiry = (some: readonly Expiry[]) => void expired.push(...some),
      onDue = async (_due: readonly Expiry[]) => {},
    ) {
      const database = await openDatabase(location);
      onTestFinished(() => database.close());
      return createSqlGalleryStore(database, { now: () => now, onDue, onExpiry });
    }

    const createGallery = (id: string, expiresAt?: Date, limits = NO_LIMITS) =>
      store.createGallery(
        ANN.id,
        { id, displayName: "", model: MODEL, maxDistance: undefined, expiresAt },
        limits,
      );
    const enrol = (faces: readonly NewFace[], galleryId = "g", limits = NO_LIMITS) =>
      store.enrolFaces(ANN.id, galleryId, MODEL, faces, limits);
    const expiryOf = async (personId: string, galleryId = "g") =>
      (await store.getPerson(ANN.id, galleryId, personId)).expiresAt;
    const expectError = (call: Promise<unknown>, kind: GalleryErrorKind) =>
      expect(call).rejects.toMatchObject({ kind });

    describe("a person", () => {
      test("who has expired is found by nothing, and is removed once with its faces", async () => {
        const faces = [newFace("a", "1", { expiresAt: inDays(1) }), newFace("a", "2"), newFace("b")];
        const { key, revision } = await enrol(faces);
        const index = new GalleryIndex(key);
        const follow = async () => {
          const changes = await store.readChanges(key, index);
          if (typeof changes === "string") throw new Error(changes);
          index.apply(changes);
        };
        await follow();
        expect(await store.getGallery(ANN.id, "g")).toMatchObject({ people: 2, faces: 3 });
        now = inDays(1);
        // These read by the key, without the gallery.
        expect((await store.readFaces(key, { size: 9 })).map(({ personId }) => personId)).toEqual(["b"]);
        expect(await store.findFaces(key, faces)).toMatchObject([{ personId: "b" }]);
        await expectError(store.getPerson(ANN.id, "g", "a"), "personNotFound");
        const { people } = await store.listPeople(ANN.id, "g", { size: 9 });
        expect(people.map(({ id }) => id)).toEqual(["b"]);
        expect(await store.listGalleries(ANN.id, { size: 9 })).toMatchObject([
          { people: 1, faces: 1, revision: revision + 1 },
        ]);
        await follow();
        expect(index.faces).toBe(1);
        expect(expired).toEqual([{ userId: ANN.id, galleryId: "g", personId: "a", faces: 2 }]);
        expect(await executeAt(location, "select distinct person_id from gallery_faces")).toEqual([
          { person_id: "b" },
        ]);
      });

      test.each<[string, () => Promise<unknown>]>([
        ["updated", () => store.updatePerson(ANN.id, "g", "a", { displayName: "A" })],
        ["deleted", () => store.deletePerson(ANN.id, "g", "a")],
        ["deleted from all galleries", () => store.deletePerson(ANN.id, undefined, "a")],
      ])("who has expired cannot be %s", async (_, change) => {
        await enrol([newFace("a", "1", { expiresAt: inDays(1) })]);
        now = inDays(2);
        await expectError(change(), "personNotFound");
        expect(expired).toHaveLength(1);
      });

      test("is new if it is enrolled after it has expired, and does not count for the limits", async () => {
        await enrol([newFace("a", "1", { displayName: "Ann", expiresAt: inDays(1) })]);
        now = inDays(2);
        await enrol([newFace("a", "2")], "g", { maxGalleryFaces: 1 });
        const person = await store.getPerson(ANN.id, "g", "a");
        expect(person).toMatchObject({ displayName: "", expiresAt: undefined, faces: [{ id: "2" }] });
      });

      test("keeps its time unless another one is given, and can lose it", async () => {
        await enrol([newFace("a", "1", { expiresAt: inDays(1) })]);
        await enrol([newFace("a", "2", { displayName: "Ann" })]);
        expect(await expiryOf("a")).toEqual(inDays(1));
        await enrol([newFace("a", "3", { expiresAt: inDays(2) }), newFace("a", "4"), newFace("b")]);
        expect([await expiryOf("a"), await expiryOf("b")]).toEqual([inDays(2), undefined]);
        await enrol([newFace("a", "1", { expiresAt: null })]);
        expect(await expiryOf("a")).toBeUndefined();
        const update = (changes: { expiresAt?: Date | undefined }) =>
          store.updatePerson(ANN.id, "g", "a", changes);
        expect(await update({ expiresAt: inDays(3) })).toMatchObject({
          displayName: "Ann",
          expiresAt: inDays(3),
        });
        expect(await update({})).toMatchObject({ expiresAt: inDays(3) });
        expect(await update({ expiresAt: undefined })).toMatchObject({ expiresAt: undefined });
      });

      test("gets the default of the plan if it is new", async () => {
        await enrol([newFace("old")]);
        const limits = { defaultRetentionDays: 30, maxRetentionDays: 60 };
        const faces = [newFace("old"), newFace("a"), newFace("b", "1", { expiresAt: inDays(5) })];
        await enrol([...faces, newFace("c", "1", { expiresAt: null })], "g", limits);
        await enrol([newFace("d")], "g", { maxRetentionDays: 60 });
        await enrol([newFace("e")], "g", { defaultRetentionDays: Number.MAX_SAFE_INTEGER });
        const times = ["old", "a", "b", "c", "d", "e"].map((id) => expiryOf(id));
        expect(await Promise.all(times)).toEqual([
          undefined,
          inDays(30),
          inDays(5),
          undefined,
          inDays(60),
          new Date("9999-12-31T00:00:00Z"),
        ]);
      });
    });

    describe("a gallery", () => {
      test("that has expired goes with everything in it, and its id and room are free", async () => {
        const limits = { maxGalleries: 2 };
        await createGallery("h", inDays(1), limits);
        await enrol([newFace("a"), newFace("b")], "h");
        await store.updateGallery(ANN.id, "h", { displayName: "H", alias: "hh" });
        now = inDays(1);
        for (const id of ["h", "hh"]) await expectError(store.getGallery(ANN.id, id), "galleryNotFound");
        expect(await store.listGalleries(ANN.id, { size: 9 })).toMatchObject([{ id: "g" }]);
        expect(expired).toEqual([{ userId: ANN.id, galleryId: "h", personId: undefined, faces: 2 }]);
        expect(await store.waitForErasure(FOREVER)).toBe(true);
        expect(await executeAt(location, "select id from gallery_people")).toEqual([]);
        await createGallery("h", inDays(2), limits);
        now = inDays(2);
        await createGallery("h", undefined, limits);
        now = inDays(3);
        expect(await store.updateGallery(ANN.id, "g", { expiresAt: inDays(4) })).toMatchObject({
          expiresAt: inDays(4),
        });
        now = inDays(4);
        // Its id is free for an alias at once.
        expect(await store.updateGallery(ANN.id, "h", { alias: "g" })).toMatchObject({ alias: "g" });
      });

      test("keeps its time when it is renamed, can lose it, and its successor has it", async () => {
        await createGallery("h", inDays(1));
        expect(await store.updateGallery(ANN.id, "h", { displayName: "H" })).toMatchObject({
          expiresAt: inDays(1),
        });
        expect((await store.replaceGallery(ANN.id, "h", "g", undefined)).gallery.expiresAt).toEqual(
          inDays(1),
        );
        const changed = await store.updateGallery(ANN.id, "h", { expiresAt: undefined });
        expect(changed.expiresAt).toBeUndefined();
      });
    });

    describe("a sweep", () => {
      const people = Array.from({ length: 1_500 }, (_, i) =>
        newFace(`p${i}`, "1", { expiresAt: inDays(i % 3 === 0 ? 9 : 1) }),
      );
      beforeEach(async () => {
        for (let i = 0; i < people.length; i += MAX_ENROLMENT_BATCH)
          await enrol(people.slice(i, i + MAX_ENROLMENT_BATCH));
        await createGallery("h", inDays(1));
        await enrol([newFace("a")], "h");
        now = inDays(1);
      });
      const ids = (some: readonly Expiry[]) =>
        some.map(({ galleryId, personId }) => `${galleryId}/${personId ?? ""}`).toSorted();
      const expectedIds = [
        ...people.flatMap(({ personId }, i) => (i % 3 === 0 ? [] : [`g/${personId}`])),
        "h/",
      ].toSorted();

      test("removes what has expired, exactly once, if replicas share the database", async () => {
        const reports: Expiry[][] = [[], []];
        const announced: string[][] = [[], []];
        const replicas = await Promise.all(
          reports.map((report, i) =>
            openStore(
              (some) => {
                expect(announced[i]).toEqual(expect.arrayContaining(ids(some)));
                report.push(...some);
              },
              async (due) => void announced[i]!.push(...ids(due)),
            ),
          ),
        );
        const { key, revision, token } = await store.getGallery(ANN.id, "g");
        expect(expired).toHaveLength(1_000);
        // Everybody who is left expires, while both replicas sweep.
        expired.length = 0;
        now = inDays(9);
        await Promise.all(replicas.map((replica) => replica.removeExpired(NEVER)));
        expect(ids(reports.flat())).toEqual([
          ...people.flatMap(({ personId }, i) => (i % 3 === 0 ? [`g/${personId}`] : [])).toSorted(),
          "h/",
        ]);
        expect(await store.getGallery(ANN.id, "g")).toMatchObject({ people: 0, faces: 0 });
        // A replica that had read the gallery before removes them, too.
        const changes = await store.readChanges(key, { until: revision, version: { revision, token } });
        expect(changes).toMatchObject({ removed: { length: 500 } });
        for (const replica of [store, ...replicas]) await replica.waitForErasure(FOREVER);
        const counts = await executeAt(location, "select count(*) as count from gallery_faces");
        expect(Number(counts[0]!.count)).toBe(0);
      });

      test("announces nobody again while the database cannot remove them", async () => {
        const database = await openDatabase(location);
        onTestFinished(() => database.close());
        let isReadOnly = true;
        let transactions = 0;
        const reading: Pick<SqlDatabase, "runTransaction" | "exclusiveRowLockClause" | "startErasure"> = {
          exclusiveRowLockClause: database.exclusiveRowLockClause,
          startErasure: (deletion) => database.startErasure(deletion),
          runTransaction: (script) => {
            // The first of the two transactions only reads.
            if (isReadOnly && ++transactions % 2 === 0) return Promise.reject(new Error("the disk is full"));
            return database.runTransaction(script);
          },
        };
        const announced: string[] = [];
        const removal = new ExpiryRemoval(reading as SqlDatabase, {
          now: () => now,
          onDue: async (due) => void announced.push(...ids(due)),
          onExpiry: (some) => void expired.push(...some),
        });
        const { key } = await store.getGallery(ANN.id, "g");
        now = inDays(9);
        expired.length = 0;
        for (let i = 0; i < 3; i++) await expect(removal.removeFrom(key)).rejects.toThrow("full");
        expect([announced.length, expired.length]).toEqual([500, 0]);
        isReadOnly = false;
        await removal.removeFrom(key);
        expect(announced).toEqual(ids(expired));
      });

      test("stops between two transactions, and the next one goes on", async () => {
        const controller = new AbortController();
        const stopping = await openStore((some) => {
          expired.push(...some);
          if (expired.length > 400) controller.abort();
        });
        await stopping.removeExpired(controller.signal);
        expect(expired.length).toBeLessThan(expectedIds.length);
        await store.removeExpired(NEVER);
        expect(ids(expired)).toEqual(expectedIds);
      });

      test("runs by itself, and again after an error", async () => {
        const errors: unknown[] = [];
        let runs = 0;
        const failing = {
          removeExpired: async (signal: AbortSignal) => {
            if (++runs === 1) throw new Error("no database");
            await store.removeExpired(signal);
          },
        };
        const sweep = new ExpirySweep(failing, { onError: (error) => errors.push(error), intervalMs: 1 });
        await expect.poll(() => expired.length, { timeout: 10_000 }).toBe(expectedIds.length);
        await sweep.close();
        expect(errors).toMatchObject([{ message: "no database" }]);
        expect(ids(expired)).toEqual(expectedIds);
      });
    });

    describe("a person in several galleries", () => {
      beforeEach(async () => {
        for (const id of ["c", "a", "b"]) await createGallery(id);
        await enrol([newFace("p", "1"), newFace("p", "2"), newFace("q")], "c");
        await enrol([newFace("p", "1")], "a");
      });
      const galleriesOf = async (personId: string) =>
        (await store.listGalleries(ANN.id, { size: 9 }, personId)).map(({ id }) => id);

      test("is found in those that have it, and deleted from all", async () => {
        expect(await galleriesOf("p")).toEqual(["a", "c"]);
        expect(await store.deletePerson(ANN.id, undefined, "p")).toEqual([
          { galleryId: "a", faces: 1 },
          { galleryId: "c", faces: 2 },
        ]);
        expect([await galleriesOf("p"), await galleriesOf("q")]).toEqual([[], ["c"]]);
        expect(await store.getGallery(ANN.id, "c")).toMatchObject({ people: 1, faces: 1, revision: 2 });
        await expectError(store.deletePerson(ANN.id, undefined, "p"), "personNotFound");
        await expectError(store.deletePerson(createUser("bob").id, undefined, "q"), "personNotFound");
        expect(await store.deletePerson(ANN.id, "c", "q")).toEqual([{ galleryId: "c", faces: 1 }]);
      });

      test("is deleted also from a gallery that gets the person meanwhile", async () => {
        const database = await openDatabase(location);
        onTestFinished(() => database.close());
        let isFirst = true;
        const list = async (size: number) => {
          const galleries = await store.listGalleries(ANN.id, { size }, "p");
          if (isFirst) await enrol([newFace("p")], "b");
          isFirst = false;
          return galleries;
        };
        const deletions = await deletePersonFromAll(database, ANN.id, "p", list);
        expect(deletions.map(({ galleryId }) => galleryId)).toEqual(["a", "b", "c"]);
        expect(await galleriesOf("p")).toEqual([]);
      });

      test("loses each face once, if several delete the person while others enrol it", async () => {
        const [one, other] = await Promise.all([openStore(), openStore()]);
        const enrolling = ["a", "b", "c"].flatMap((galleryId) =>
          Array.from({ length: 10 }, (_, i) =>
            one.enrolFaces(ANN.id, galleryId, MODEL, [newFace("p", `new${i}`)], NO_LIMITS),
          ),
        );
        const deleting = [one, other].map((some) =>
          some.deletePerson(ANN.id, undefined, "p").catch((error) => {
            expect(error.kind).toBe("personNotFound");
            return [];
          }),
        );
        await Promise.all(enrolling);
        const last = store.deletePerson(ANN.id, undefined, "p").catch(() => []);
        const deletions = (await Promise.all([...deleting, last])).flat();
        expect(deletions.reduce((sum, { faces }) => sum + faces, 0)).toBe(3 + 30);
        expect(await galleriesOf("p")).toEqual([]);
      });
    });
  });
}
