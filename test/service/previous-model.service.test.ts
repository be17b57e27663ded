import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { distanceOf, openAnalyzer } from "../../src/core/index.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { createGalleryClient, errorOf, type GalleryClient, MODEL } from "../support/galleries.ts";
import { photograph } from "../support/images.ts";
import { writePreviousNetworks } from "../support/previous-networks.ts";
import { startTestService, USER } from "../support/service.ts";

const READ_ONLY = ["FailedPrecondition", "MODEL_MISMATCH"];
const PHOTO = {
  source: { case: "image", value: { source: { case: "content", value: photograph(3).slice() } } },
} as const;

let folder: string;
let modelsDir: string;
let previousModel: string;
/** The embedding of the most prominent face of the photograph by the previous model. */
let previousEmbedding: Float32Array;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "visage-previous-"));
  modelsDir = join(folder, "models");
  previousModel = writePreviousNetworks(modelsDir);
  const analyzer = await openAnalyzer({ modelsDir });
  expect(analyzer.identity).toBe(previousModel);
  ({ embedding: previousEmbedding } = await analyzer.embed(photograph(3)));
  await analyzer.close();
});
afterAll(() => rm(folder, { recursive: true }));

/** Starts a service, with what is needed to make galleries as the previous version did. */
async function start(dataDir: string, env = {}) {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = createLog("warn", { write, dropped: 0, flush: async () => {} });
  const service = await startTestService({ VISAGE_DATA_DIR: dataDir, ...env }, log);
  const database = await openDatabase({ databaseUrl: undefined, dataDir });
  const [user] = await database.query({ sql: "select id from users" });
  const store = createSqlGalleryStore(database);
  const close = async () => {
    await database.close();
    await service.close();
  };
  return {
    service,
    client: createGalleryClient(service, USER),
    store,
    userId: String(user!.id),
    lines,
    close,
  };
}

type Started = Awaited<ReturnType<typeof start>>;

/** Creates a gallery of the previous model with one person. */
async function createPrevious(
  { store, userId }: Pick<Started, "store" | "userId">,
  id: string,
  personId = "ann",
) {
  await store.createGallery(
    userId,
    { id, displayName: "", model: previousModel, maxDistance: undefined },
    {},
  );
  const face = { personId, faceId: "f", displayName: "Ann", embedding: previousEmbedding };
  await store.enrolFaces(userId, id, previousModel, [face], {});
}

describe("a service with the networks of the previous version", () => {
  let started: Started;
  let client: GalleryClient;
  let galleryId: string;
  let ids = 0;

  beforeAll(async () => {
    started = await start(join(folder, "with"), { VISAGE_PREVIOUS_MODELS_DIR: modelsDir });
    ({ client } = started);
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    galleryId = `g${++ids}`;
    await createPrevious(started, galleryId);
  });

  test("identifies by the previous model in its galleries, exactly", async () => {
    const found = await client.identifyFaces({ galleryId, source: PHOTO });
    expect(found.model).toBe(previousModel);
    expect(found.faces.length).toBeGreaterThan(1);
    expect(found.faces.flatMap(({ matches }) => matches)).toMatchObject([
      { personId: "ann", displayName: "Ann", distance: 0 },
    ]);
    // The service's own network makes another embedding of the same face.
    const own = { galleryId: `${galleryId}-own` };
    await client.createGallery(own);
    await client.enrolFace({ ...own, personId: "ann", source: PHOTO });
    expect(await client.identifyFaces({ ...own, source: PHOTO })).toMatchObject({ model: MODEL });
    for await (const { embedding } of client.exportGallery(own))
      expect(distanceOf(Float32Array.from(embedding!.values), previousEmbedding)).toBeGreaterThan(0.0001);
  });

  test("takes embeddings of the gallery's model only", async () => {
    const values = [...previousEmbedding];
    const source = (model: string) => ({ source: { case: "embedding", value: { values, model } } }) as const;
    const found = await client.identifyFaces({ galleryId, source: source(previousModel) });
    expect(found.faces[0]!.matches).toMatchObject([{ personId: "ann", distance: 0 }]);
    expect(await errorOf(client.identifyFaces({ galleryId, source: source(MODEL) }))).toEqual(READ_ONLY);
  });

  test("serves its galleries read-only", async () => {
    const { gallery } = await client.getGallery({ galleryId });
    expect(gallery).toMatchObject({ model: previousModel, readOnly: true });
    const enrolment = client.enrolFace({ galleryId, personId: "bob", source: PHOTO });
    expect(await errorOf(enrolment)).toEqual(READ_ONLY);
    await expect(enrolment).rejects.toThrow(/Migrate it/);
    const embedding = { values: [...previousEmbedding], model: previousModel };
    const faces = (async function* () {
      yield { galleryId, personId: "bob", embedding };
    })();
    expect(await errorOf(client.importFaces(faces))).toEqual(READ_ONLY);
    const exported = [];
    for await (const face of client.exportGallery({ galleryId })) exported.push(face);
    expect(exported).toMatchObject([{ personId: "ann", embedding: { model: previousModel } }]);
    await client.updatePerson({ galleryId, personId: "ann", displayName: "Anna" });
    await client.deletePerson({ galleryId, personId: "ann" });
    await client.deleteGallery({ galleryId });
  });

  test("switches to a gallery of its own model between two searches", async () => {
    const successorId = `${galleryId}-next`;
    await client.createGallery({ galleryId: successorId });
    await client.enrolFace({ galleryId: successorId, personId: "ann", faceId: "new", source: PHOTO });
    const seen: string[] = [];
    let isDone = false;
    const search = async () => {
      while (!isDone) {
        const { model, faces, revision } = await client.identifyFaces({ galleryId, source: PHOTO });
        const [match, ...others] = faces.flatMap(({ matches }) => matches);
        expect([others, match]).toMatchObject([[], { personId: "ann" }]);
        seen.push(`${model} ${match!.faceId} ${revision}`);
      }
    };
    const searching = Promise.all([search(), search(), search()]);
    searching.catch(() => {});
    const expectSearches = (count: number, text: string) =>
      expect
        .poll(() => seen.filter((entry) => entry === text).length, { timeout: 20_000 })
        .toBeGreaterThan(count);
    await expectSearches(3, `${previousModel} f 1`);
    const { gallery } = await client.replaceGallery({ galleryId, successorId, revision: 1n });
    expect(gallery).toMatchObject({ galleryId, model: MODEL, readOnly: false, revision: 2n });
    const before = seen.length;
    await expectSearches(6, `${MODEL} new 2`);
    isDone = true;
    await searching;
    expect(new Set(seen)).toEqual(new Set([`${previousModel} f 1`, `${MODEL} new 2`]));
    // Three searches may have been in progress.
    expect(seen.slice(before + 3).every((entry) => entry.startsWith(MODEL))).toBe(true);
  });

  test("moves an alias between galleries of both models", async () => {
    const alias = `staff-${galleryId}`;
    await client.updateGallery({ galleryId, alias });
    expect(await client.identifyFaces({ galleryId: alias, source: PHOTO })).toMatchObject({
      model: previousModel,
    });
    await client.createGallery({ galleryId: `${galleryId}-2` });
    const moved = await client.updateGallery({ galleryId: `${galleryId}-2`, alias });
    expect(moved.gallery).toMatchObject({ galleryId: `${galleryId}-2`, alias });
    expect(await client.identifyFaces({ galleryId: alias, source: PHOTO })).toMatchObject({ model: MODEL });
    await client.updateGallery({ galleryId: alias, alias: "" });
    expect(await errorOf(client.getGallery({ galleryId: alias }))).toEqual(["NotFound", "GALLERY_NOT_FOUND"]);
    expect(await errorOf(client.updateGallery({ galleryId, alias: "a/b" }))).toEqual([
      "InvalidArgument",
      "BAD_REQUEST",
    ]);
  });
});

describe("a service without the networks of the previous version", () => {
  let started: Started;
  beforeAll(async () => {
    const dataDir = join(folder, "without");
    const first = await start(dataDir);
    await createPrevious(first, "g");
    await first.close();
    started = await start(dataDir);
  });
  afterAll(() => started.close());

  test("says in its log and to callers what to do", async () => {
    const warnings = started.lines.filter((line) => line.includes("galleries of another model"));
    expect(warnings.map((line) => JSON.parse(line))).toMatchObject([{ model: previousModel, galleries: 1 }]);
    const search = started.client.identifyFaces({ galleryId: "g", source: PHOTO });
    expect(await errorOf(search)).toEqual(READ_ONLY);
    await expect(search).rejects.toThrow(/Migrate it or start/);
  });

  test("replaces a gallery that has changed only if the caller knows it", async () => {
    const { client } = started;
    await client.createGallery({ galleryId: "next" });
    await client.deletePerson({ galleryId: "g", personId: "ann" });
    const request = { galleryId: "g", successorId: "next", revision: 1n };
    expect(await errorOf(client.replaceGallery(request))).toEqual(["Aborted", "GALLERY_CHANGED"]);
    await client.replaceGallery({ ...request, revision: 2n });
    expect(await errorOf(client.replaceGallery(request))).toEqual(["NotFound", "GALLERY_NOT_FOUND"]);
  });
});

describe("the start fails", () => {
  const startWith = (dir: string) => start(join(folder, "none"), { VISAGE_PREVIOUS_MODELS_DIR: dir });

  test("for a folder without networks", async () => {
    await expect(startWith(join(folder, "nothing"))).rejects.toThrow(
      /^VISAGE_PREVIOUS_MODELS_DIR has no networks/,
    );
  });

  test("for networks that make other embeddings in this version", async () => {
    const other = join(folder, "other");
    await cp(modelsDir, other, { recursive: true });
    const file = join(other, "calibration.json");
    const calibration = await readFile(file, "utf8");
    await writeFile(file, calibration.replace(previousModel, "sface-000000000000"));
    await expect(startWith(other)).rejects.toThrow(
      /networks of sface-000000000000, .*previous version serve/,
    );
  });
});
