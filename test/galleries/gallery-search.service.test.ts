import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { readCalibration, readFalseMatchRates } from "../../src/core/index.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import { GalleryIndexes } from "../../src/galleries/gallery-indexes.ts";
import { GallerySearch, type SearchRequest } from "../../src/galleries/gallery-search.ts";
import type { GalleryStore, NewFace } from "../../src/galleries/gallery-store.ts";
import { SearchProcess, type SearchProcessOptions } from "../../src/galleries/search-process.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import { MODEL, NO_LIMITS, newFace, randomVector } from "../support/gallery-contract.ts";
import { describeSearchContract } from "../support/search-contract.ts";
import { addUser, createUser } from "../support/store-contract.ts";

const ANN = createUser("ann");
const WAIT = { timeout: 20_000 };
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

const createLocation = async () => ({ databaseUrl: undefined, dataDir: join(folder, `${++folders}`) });

beforeEach(async () => {
  location = await createLocation();
  const accounts = await openAccountStore(location);
  await addUser(accounts, ANN);
  await accounts.close();
  const database = await openDatabase(location);
  onTestFinished(() => database.close());
  store = createSqlGalleryStore(database);
});

const create = (id: string) =>
  store.createGallery(ANN.id, { id, displayName: "", model: MODEL, maxDistance: undefined }, NO_LIMITS);
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

describeSearchContract(
  "indexes in memory",
  { createLocation },
  ({ store }) => new GalleryIndexes({ store, maxBytes: 1e9, maxWaitMs: 60_000 }),
);

test("an index is dropped when another one needs its memory, and read again", async () => {
  const face = newFace("p");
  for (const id of ["a", "b", "c"]) {
    await create(id);
    await enrol(id, [face, newFace("q")]);
  }
  const createSearch = (maxBytes: number) => {
    const indexes = new GalleryIndexes({ store, maxBytes, maxWaitMs: 60_000 });
    return new GallerySearch({ store, indexes, rates: readFalseMatchRates(), graceMs: 60_000 });
  };
  const search = createSearch(MEMORY_OF_TWO);
  for (const id of ["a", "b", "c", "a", "b"]) {
    const { faces } = await search.search(requestFor(id, face.embedding, { maxDistance: 1e-3 }));
    expect(faces).toMatchObject([{ matches: [{ personId: "p" }] }]);
    expect(search.size.bytes).toBeLessThanOrEqual(MEMORY_OF_TWO);
  }
  expect(search.size.galleries).toBe(2);
  const small = createSearch(1_000);
  await expect(small.search(requestFor("a", face.embedding))).rejects.toThrow("2 faces");
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
