import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { readCalibration, readFalseMatchRates } from "../../src/core/index.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import { GallerySearch, type SearchRequest } from "../../src/galleries/gallery-search.ts";
import type { GalleryStore, NewFace } from "../../src/galleries/gallery-store.ts";
import { thresholdForSize } from "../../src/galleries/gallery-threshold.ts";
import { SearchProcess, type SearchProcessOptions } from "../../src/galleries/search-process.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import { MODEL, NO_LIMITS, newFace, randomVector } from "../support/gallery-contract.ts";
import { addUser, createUser } from "../support/store-contract.ts";

const ANN = createUser("ann");
const WAIT = { timeout: 20_000 };
const rates = readFalseMatchRates();
/** Enough for two small galleries, but not for three. */
const MEMORY_OF_TWO = 80_000;
let folder: string;
let folders = 0;
let location: { readonly databaseUrl: undefined; readonly dataDir: string };
let store: GalleryStore;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "visage-search-"));
});
afterAll(() => rm(folder, { recursive: true }));

beforeEach(async () => {
  location = { databaseUrl: undefined, dataDir: join(folder, `${++folders}`) };
  const accounts = await openAccountStore(location);
  await addUser(accounts, ANN);
  await accounts.close();
  const database = await openDatabase(location);
  onTestFinished(() => database.close());
  store = createSqlGalleryStore(database);
});

const create = (id: string, maxDistance?: number) =>
  store.createGallery(ANN.id, { id, displayName: "", model: MODEL, maxDistance }, NO_LIMITS);
const enrol = (id: string, faces: readonly NewFace[]) =>
  store.enrolFaces(ANN.id, id, MODEL, faces, NO_LIMITS);
const requestFor = (galleryId: string, embedding: Float32Array, changes: Partial<SearchRequest> = {}) => ({
  userId: ANN.id,
  galleryId,
  probes: [{ embedding, populations: ["adults"] as const }],
  model: MODEL,
  maxResults: 10,
  maxDistance: 100,
  ...changes,
});
const createSearch = (changes: Partial<ConstructorParameters<typeof GallerySearch>[0]> = {}) =>
  new GallerySearch({ store, rates, maxBytes: 1e9, graceMs: 60_000, maxWaitMs: 60_000, ...changes });

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
    await expect(search.search(requestFor("g", randomVector(), { model: "other" }))).rejects.toThrow(/other/);
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

  test("is dropped when another one needs its memory, and read again", async () => {
    const face = newFace("p");
    for (const id of ["a", "b", "c"]) {
      await create(id);
      await enrol(id, [face, newFace("q")]);
    }
    const search = createSearch({ maxBytes: MEMORY_OF_TWO });
    for (const id of ["a", "b", "c", "a", "b"]) {
      const { faces } = await search.search(requestFor(id, face.embedding, { maxDistance: 1e-3 }));
      expect(faces).toMatchObject([{ matches: [{ personId: "p" }] }]);
      expect(search.size.bytes).toBeLessThanOrEqual(MEMORY_OF_TWO);
    }
    expect(search.size.galleries).toBe(2);
    const small = createSearch({ maxBytes: 1_000 });
    await expect(small.search(requestFor("a", face.embedding))).rejects.toThrow("2 faces");
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
    const release = async () => {
      await vi.waitFor(() => expect(waiting).toHaveLength(1), WAIT);
      waiting.pop()!();
    };
    const releaseAll = () => {
      isHeld = false;
      return release();
    };
    return { slow: { ...store, readChanges }, release, releaseAll };
  }

  test("a search waits, or fails at once if it would not be in time", async () => {
    const { slow, release, releaseAll } = await createSlowStore();
    const outcomes: string[] = [];
    const search = createSearch({ store: slow, onLoad: (outcome) => outcomes.push(outcome) });
    const request = requestFor("g", last.embedding, { maxDistance: 1e-3 });
    const patient = search.search(request);
    const impatient = search.search({ ...request, timeoutMs: 400 });
    await expect(impatient).rejects.toMatchObject({ kind: "galleryLoading", retryAfterMs: undefined });
    await release();
    // A page took longer than half a second, so the others will not be read in time.
    const { retryAfterMs } = await search.search({ ...request, timeoutMs: 500 }).catch((error) => error);
    expect(retryAfterMs).toBeGreaterThan(400);
    expect(outcomes).toEqual([]);
    await releaseAll();
    expect((await patient).faces).toMatchObject([{ matches: [{ personId: "z", distance: 0 }] }]);
    expect(outcomes).toEqual(["ok"]);
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
    expect((await searching).gallery.faces).toBe(10_001);
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
    expect(await createSearch({ store: unreliable }).search(requestFor("g", face.embedding))).toMatchObject({
      isStale: true,
      faces: [{ matches: [{ personId: "p", displayName: "" }] }],
    });
  });
});

describe("the search process", () => {
  function startProcess(losses: string[] = [], changes: Partial<SearchProcessOptions> = {}): SearchProcess {
    const searcher = new SearchProcess({
      location,
      calibration: readCalibration(),
      maxBytes: 1e9,
      graceMs: 1_000,
      maxWaitMs: 60_000,
      onLoss: (cause) => losses.push(cause),
      onOutput: () => {},
      ...changes,
    });
    onTestFinished(() => searcher.close());
    return searcher;
  }
  const { signal } = new AbortController();

  test("finds what the store has, and restores errors", async () => {
    await create("g");
    const face = newFace("p", "1", { displayName: "P" });
    await enrol("g", [face]);
    const searcher = startProcess();
    const { faces } = await searcher.search(requestFor("g", face.embedding), signal);
    const found = { personId: "p", faceId: "1", displayName: "P", distance: 0 };
    expect(faces).toMatchObject([{ matches: [found] }]);
    await expect(searcher.search(requestFor("h", face.embedding), signal)).rejects.toMatchObject({
      name: "GalleryError",
      kind: "galleryNotFound",
    });
  });

  test("is replaced after a crash; searches in progress fail", async () => {
    await create("g");
    const losses: string[] = [];
    const searcher = startProcess(losses);
    const request = requestFor("g", randomVector());
    await searcher.search(request, signal);
    // Stopped, so that it cannot answer before it is killed.
    process.kill(searcher.pid!, "SIGSTOP");
    const interrupted = searcher.search(request, signal);
    process.kill(searcher.pid!, "SIGKILL");
    await expect(interrupted).rejects.toThrow("The search process has ended (SIGKILL).");
    expect(losses).toEqual(["SIGKILL"]);
    expect((await searcher.search(request, signal)).faces).toMatchObject([{ matches: [] }]);
  });

  test("is replaced if it is stuck", async () => {
    await create("g");
    const losses: string[] = [];
    const searcher = startProcess(losses, { pingIntervalMs: 1_500 });
    const request = requestFor("g", randomVector());
    await searcher.search(request, signal);
    const { pid } = searcher;
    process.kill(pid!, "SIGSTOP");
    await expect(searcher.search(request, signal)).rejects.toThrow("it does not respond");
    expect(losses).toEqual(["it does not respond"]);
    expect((await searcher.search(request, signal)).faces).toMatchObject([{ matches: [] }]);
    await vi.waitFor(() => expect(() => process.kill(pid!, 0)).toThrow("ESRCH"), WAIT);
  });

  test("rejects searches that wait too long, and forgets those that are cancelled", async () => {
    await create("g");
    for (let batch = 0; batch < 20; batch++)
      await enrol(
        "g",
        Array.from({ length: 500 }, (_, i) => newFace(`p${500 * batch + i}`)),
      );
    const searcher = startProcess([], { maxWaitMs: 2_000 });
    const probe = randomVector();
    // Each takes about 0.1 s.
    const long = requestFor("g", probe, {
      probes: Array(128).fill({ embedding: probe, populations: ["adults"] }),
    });
    await searcher.search(long, signal);
    const flood = await Promise.allSettled(Array.from({ length: 200 }, () => searcher.search(long, signal)));
    const outcomes = flood.map((result) => (result.status === "fulfilled" ? "ok" : result.reason.kind));
    expect(new Set(outcomes)).toEqual(new Set(["ok", "overloaded"]));

    const controller = new AbortController();
    const cancelled = Promise.allSettled(
      Array.from({ length: 200 }, () => searcher.search(long, controller.signal)),
    );
    controller.abort();
    await cancelled;
    expect((await searcher.search(long, signal)).faces).toHaveLength(128);
  });

  test("gives up a search that is cancelled, and all when it is closed", async () => {
    await create("g");
    const searcher = startProcess();
    const controller = new AbortController();
    const cancelled = searcher.search(requestFor("g", randomVector()), controller.signal);
    controller.abort(new Error("left"));
    await expect(cancelled).rejects.toThrow("left");
    await searcher.close();
    await expect(searcher.search(requestFor("g", randomVector()), signal)).rejects.toThrow("No more");
  });
});
