import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { readFalseMatchRates } from "../../src/core/index.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import type { SqlDatabase } from "../../src/database/sql-database.ts";
import {
  GallerySearch,
  type GallerySearchOptions,
  type SearchRequest,
} from "../../src/galleries/gallery-search.ts";
import type { GalleryStore, NewFace } from "../../src/galleries/gallery-store.ts";
import { thresholdForSize } from "../../src/galleries/gallery-threshold.ts";
import type { SearchableGalleries } from "../../src/galleries/searchable-galleries.ts";
import type { Expiry } from "../../src/galleries/sql-expiry.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import { MODEL, NO_LIMITS, newFace, randomVector } from "./gallery-contract.ts";
import { addUser, createUser, type StoreKind } from "./store-contract.ts";

const ANN = createUser("ann");
const WAIT = { timeout: 60_000 };
const START = new Date("2026-01-01T00:00:00Z");
const inDays = (days: number) => new Date(START.getTime() + days * 86_400_000);
const rates = readFalseMatchRates();

/** Makes what searches the galleries of a store. */
export type OpenIndexes = (parts: {
  readonly store: GalleryStore;
  readonly database: SqlDatabase;
}) => SearchableGalleries;

/** How galleries are searched, by any engine, as tests. */
export function describeSearchContract(
  kind: string,
  { createLocation }: Pick<StoreKind, "createLocation">,
  openIndexes: OpenIndexes,
): void {
  describe(`with ${kind}`, () => {
    let database: SqlDatabase;
    let store: GalleryStore;
    let now: Date | undefined;
    let expired: Expiry[];

    beforeEach(async () => {
      [now, expired] = [undefined, []];
      const location = await createLocation();
      const accounts = await openAccountStore(location);
      await addUser(accounts, ANN);
      await accounts.close();
      database = await openDatabase(location);
      const opened = database;
      onTestFinished(() => opened.close());
      store = createSqlGalleryStore(database, {
        now: () => now ?? new Date(),
        onDue: async () => {},
        onExpiry: (some) => void expired.push(...some),
      });
    });

    const create = (id: string, maxDistance?: number) =>
      store.createGallery(ANN.id, { id, displayName: "", model: MODEL, maxDistance }, NO_LIMITS);
    const enrol = (id: string, faces: readonly NewFace[]) =>
      store.enrolFaces(ANN.id, id, MODEL, faces, NO_LIMITS);
    const requestFor = (
      galleryId: string,
      embedding: Float32Array,
      changes: Partial<SearchRequest> = {},
    ) => ({
      userId: ANN.id,
      galleryId,
      probes: [{ embedding, populations: ["adults"] as const }],
      model: MODEL,
      maxResults: 10,
      maxDistance: 100,
      ...changes,
    });
    const createSearch = (changes: Partial<GallerySearchOptions> = {}) => {
      const indexes = openIndexes({ store: changes.store ?? store, database });
      return new GallerySearch({ store, indexes, rates, graceMs: 60_000, ...changes });
    };

    function distanceOf(one: Float32Array, other: Float32Array): number {
      return Math.hypot(...one.map((value, i) => value - other[i]!));
    }

    describe("a search", () => {
      test("finds the nearest people as a plain scan does, each by the nearest face", async () => {
        await create("g");
        const faces = Array.from({ length: 400 }, (_, i) =>
          newFace(`p${i % 50}`, `${i}`, { displayName: `Person ${i % 50}` }),
        );
        await enrol("g", faces);
        const probe = randomVector();
        const { faces: found, gallery, isStale } = await createSearch().search(requestFor("g", probe));
        const scanned = faces
          .map(({ personId, faceId, embedding, displayName }) => ({
            personId,
            faceId,
            displayName,
            distance: distanceOf(probe, embedding),
          }))
          .toSorted((a, b) => a.distance - b.distance);
        const expected = scanned.filter(
          (face, i) => scanned.findIndex(({ personId }) => personId === face.personId) === i,
        );
        expect(found[0]!.matches.map(({ faceId, displayName }) => [faceId, displayName])).toEqual(
          expected.slice(0, 10).map(({ faceId, displayName }) => [faceId, displayName]),
        );
        expect(found[0]!.matches[0]!.distance).toBeCloseTo(expected[0]!.distance, 5);
        expect(gallery).toEqual({ model: MODEL, revision: 1, faces: 400, people: 50 });
        expect(isStale).toBe(false);
      });

      test("in an empty gallery finds nobody", async () => {
        await create("g");
        const { faces, threshold } = await createSearch().search(
          requestFor("g", randomVector(), { maxDistance: undefined }),
        );
        expect(faces).toMatchObject([{ matches: [] }]);
        expect(threshold.distance).toBe(thresholdForSize(1, rates, ["adults"]).distance);
      });

      test("uses the threshold of the request, of the gallery or of its size", async () => {
        await create("own", 0.3);
        await create("none");
        const distanceIn = async (id: string, maxDistance?: number) =>
          (await createSearch().search(requestFor(id, randomVector(), { maxDistance }))).threshold.distance;
        expect(await distanceIn("own", 0.2)).toBe(0.2);
        expect(await distanceIn("own")).toBe(0.3);
        expect(await distanceIn("none")).toBe(thresholdForSize(1, rates, ["adults"]).distance);
      });

      test("of another model or in an unknown gallery is rejected", async () => {
        await create("g");
        const search = createSearch();
        await expect(search.search(requestFor("g", randomVector(), { model: "other" }))).rejects.toThrow(
          /other/,
        );
        await expect(search.search(requestFor("h", randomVector()))).rejects.toThrow("no gallery h");
      });
    });

    describe("an index", () => {
      test("follows every change that another process makes", async () => {
        await create("g");
        const search = createSearch();
        const idsFor = async (embedding: Float32Array) =>
          (await search.search(requestFor("g", embedding, { maxDistance: 1e-3 }))).faces[0]!.matches.map(
            ({ personId, faceId }) => `${personId}/${faceId}`,
          );
        const [one, two, three] = [newFace("a", "1"), newFace("a", "2"), newFace("b", "1")];
        expect(await idsFor(one.embedding)).toEqual([]);
        await enrol("g", [one, two, three]);
        expect(await idsFor(one.embedding)).toEqual(["a/1"]);
        const replaced = newFace("a", "1");
        await enrol("g", [replaced]);
        expect([await idsFor(one.embedding), await idsFor(replaced.embedding)]).toEqual([[], ["a/1"]]);
        await store.deleteFace(ANN.id, "g", "a", "2");
        expect(await idsFor(two.embedding)).toEqual([]);
        await store.deletePerson(ANN.id, "g", "b");
        expect(await idsFor(three.embedding)).toEqual([]);
        await enrol("g", [three]);
        expect(await idsFor(three.embedding)).toEqual(["b/1"]);
        await store.deleteGallery(ANN.id, "g");
        await expect(idsFor(three.embedding)).rejects.toThrow("no gallery g");
        await create("g");
        expect(await idsFor(three.embedding)).toEqual([]);
      });

      test("is consistent when searches and changes run at the same time", async () => {
        await create("g");
        const search = createSearch();
        const faces = Array.from({ length: 60 }, (_, i) => newFace(`p${i}`));
        const change = async () => {
          for (const face of faces) {
            await enrol("g", [face]);
            const found = await search.search(requestFor("g", face.embedding, { maxDistance: 1e-3 }));
            expect(found.faces[0]!.matches.map(({ personId }) => personId)).toEqual([face.personId]);
            await store.deletePerson(ANN.id, "g", face.personId);
            const after = await search.search(requestFor("g", face.embedding, { maxDistance: 1e-3 }));
            expect(after.faces[0]!.matches).toEqual([]);
          }
        };
        const searchOthers = async () => {
          for (let i = 0; i < 100; i++) await search.search(requestFor("g", randomVector()));
        };
        await Promise.all([change(), searchOthers(), searchOthers()]);
      });

      test("is searched without the database for the grace period, and says so", async () => {
        await create("g");
        const face = newFace("p", "1", { displayName: "P" });
        await enrol("g", [face]);
        let isAway = false;
        const unreliable: GalleryStore = {
          ...store,
          getGallery: (...ids) => (isAway ? Promise.reject(new Error("away")) : store.getGallery(...ids)),
        };
        const search = createSearch({ store: unreliable, graceMs: 200 });
        const request = requestFor("g", face.embedding);
        expect(await search.search(request)).toMatchObject({ isStale: false });
        await store.updateGallery(ANN.id, "g", { alias: "staff" });
        expect(await search.search({ ...request, galleryId: "staff" })).toMatchObject({ isStale: false });
        expect(search.size).toMatchObject({ galleries: 1 });
        isAway = true;
        expect(await search.search(request)).toMatchObject({
          isStale: true,
          faces: [{ matches: [{ personId: "p", displayName: "" }] }],
        });
        expect(await search.search({ ...request, galleryId: "staff" })).toMatchObject({ isStale: true });
        await vi.waitFor(() => expect(search.search(request)).rejects.toThrow("away"), WAIT);
        await expect(search.search(requestFor("other", face.embedding))).rejects.toThrow("away");
        isAway = false;
        expect(await search.search(request)).toMatchObject({ isStale: false });
      });
    });

    describe("while a gallery is read", () => {
      const last = newFace("z");

      /** A store whose pages wait until they are released, one after another. */
      async function createSlowStore() {
        await create("g");
        for (let batch = 0; batch < 20; batch++)
          await enrol(
            "g",
            Array.from({ length: 500 }, (_, i) => newFace(`a${500 * batch + i}`)),
          );
        await enrol("g", [last]);
        const waiting: (() => void)[] = [];
        let isHeld = true;
        const readChanges: GalleryStore["readChanges"] = async (...since) => {
          if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
          return store.readChanges(...since);
        };
        const waitForPage = () => vi.waitFor(() => expect(waiting).toHaveLength(1), WAIT);
        const release = async () => {
          await waitForPage();
          waiting.pop()!();
        };
        const releaseAll = async () => {
          await waitForPage();
          isHeld = false;
          await release();
        };
        return { slow: { ...store, readChanges }, waitForPage, release, releaseAll };
      }

      test("a search waits, or fails at once if it would not be in time", async () => {
        const { slow, waitForPage, release, releaseAll } = await createSlowStore();
        const search = createSearch({ store: slow });
        const request = requestFor("g", last.embedding, { maxDistance: 1e-3 });
        const patient = search.search(request);
        const impatient = search.search({ ...request, timeoutMs: 400 });
        await expect(impatient).rejects.toMatchObject({ kind: "galleryLoading", retryAfterMs: undefined });
        await release();
        await waitForPage();
        // A page took longer than half a second, so the others will not be read in time.
        const { retryAfterMs } = await search.search({ ...request, timeoutMs: 500 }).catch((error) => error);
        expect(retryAfterMs).toBeGreaterThan(400);
        await releaseAll();
        expect((await patient).faces).toMatchObject([{ matches: [{ personId: "z", distance: 0 }] }]);
      });

      test("another one that takes its place is searched instead", async () => {
        for (const id of ["g", "next"]) await create(id);
        await enrol("g", [newFace("a"), newFace("b")]);
        await enrol("next", [last]);
        let revision: number | undefined;
        const readChanges: GalleryStore["readChanges"] = async (...since) => {
          revision ??= (await store.replaceGallery(ANN.id, "g", "next", undefined)).gallery.revision;
          return store.readChanges(...since);
        };
        const search = createSearch({ store: { ...store, readChanges } });
        const result = await search.search(requestFor("g", last.embedding));
        expect(result).toMatchObject({ gallery: { faces: 1, revision }, isStale: false });
      });

      test("faces that are enrolled and deleted meanwhile are not missed", async () => {
        const { slow, release, releaseAll } = await createSlowStore();
        const search = createSearch({ store: slow });
        const [added, replaced, deleted] = [newFace("new"), newFace("a0"), newFace("b")];
        await enrol("g", [deleted]);
        const searching = search.search(requestFor("g", last.embedding));
        await release();
        await enrol("g", [added]);
        await release();
        await enrol("g", [replaced]);
        await store.deletePerson(ANN.id, "g", "a1");
        await release();
        await store.deletePerson(ANN.id, "g", "b");
        await releaseAll();
        await searching;
        const find = async ({ embedding }: NewFace) => {
          const { faces } = await search.search(requestFor("g", embedding, { maxDistance: 1e-3 }));
          return faces[0]!.matches.map(({ personId }) => personId);
        };
        expect(await Promise.all([added, replaced, deleted, last].map(find))).toEqual([
          ["new"],
          ["a0"],
          [],
          ["z"],
        ]);
        expect((await search.search(requestFor("g", last.embedding))).gallery.faces).toBe(10_001);
      });

      test("its deletion ends the searches", async () => {
        const { slow, release } = await createSlowStore();
        const search = createSearch({ store: slow });
        const searching = search.search(requestFor("g", last.embedding));
        searching.catch(() => {});
        await release();
        await store.deleteGallery(ANN.id, "g");
        await release();
        await expect(searching).rejects.toMatchObject({ kind: "galleryNotFound" });
        expect(search.size.galleries).toBe(0);
      });
    });

    describe("a database that fails for a moment", () => {
      test("while an index is read never makes a partial one", async () => {
        await create("g");
        const last = newFace("z");
        for (let batch = 0; batch < 10; batch++)
          await enrol(
            "g",
            Array.from({ length: 500 }, (_, i) => newFace(`a${500 * batch + i}`)),
          );
        await enrol("g", [last]);
        let reads = 0;
        const unreliable: GalleryStore = {
          ...store,
          readChanges: (...since) =>
            ++reads === 2 ? Promise.reject(new Error("away")) : store.readChanges(...since),
        };
        const search = createSearch({ store: unreliable });
        const request = requestFor("g", last.embedding, { maxDistance: 1e-3 });
        const [first, second] = await Promise.allSettled([search.search(request), search.search(request)]);
        expect(first).toMatchObject({ status: "rejected" });
        // Either is right, but not a search that misses people.
        if (second!.status === "fulfilled")
          expect(second.value).toMatchObject({ faces: [{ matches: [{ personId: "z" }] }], isStale: false });
        expect(await search.search(request)).toMatchObject({
          faces: [{ matches: [{ personId: "z" }] }],
          isStale: false,
        });
      });

      test("after an index was read leaves a search without names", async () => {
        await create("g");
        const face = newFace("p", "1", { displayName: "P" });
        await enrol("g", [face]);
        const unreliable: GalleryStore = { ...store, findFaces: () => Promise.reject(new Error("away")) };
        expect(
          await createSearch({ store: unreliable }).search(requestFor("g", face.embedding)),
        ).toMatchObject({
          isStale: true,
          faces: [{ matches: [{ personId: "p", displayName: "" }] }],
        });
      });
    });

    describe("a search of people with a time limit", () => {
      test("is not hidden from others by those who have expired, and does not find them", async () => {
        now = START;
        await create("g");
        const search = createSearch();
        const embedding = randomVector();
        const near = Array.from({ length: 40 }, (_, i) =>
          newFace(`near${i}`, "1", { embedding, expiresAt: inDays(i < 20 ? 1 : 2) }),
        );
        await enrol("g", [...near, newFace("far")]);
        const find = async () => {
          const result = await search.search(requestFor("g", embedding, { maxResults: 3 }));
          return [result.gallery.faces, ...result.faces[0]!.matches.map(({ personId }) => personId)];
        };
        expect(await find()).toEqual([41, "near0", "near1", "near10"]);
        now = inDays(1);
        expect(await find()).toEqual([21, "near20", "near21", "near22"]);
        // The time of the others is over while the search runs.
        const { getGallery } = store;
        store.getGallery = async (...args) => {
          const gallery = await getGallery(...args);
          now = inDays(2);
          return gallery;
        };
        expect(await find()).toEqual([1, "far"]);
        expect(new Set(expired.map(({ personId }) => personId)).size).toBe(40);
      });
    });
  });
}
