import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { createVisageClient, type VisageClient } from "../../src/client/visage-client.ts";
import { type Analyzer, openAnalyzer } from "../../src/core/index.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import type { SqlDatabase } from "../../src/database/sql-database.ts";
import type { GalleryStore } from "../../src/galleries/gallery-store.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { runInProcess } from "../support/command-line.ts";
import { ALL_FACES, cropPhotograph, growBox } from "../support/faces.ts";
import { MODEL } from "../support/galleries.ts";
import { FRAME, startLossyProxy } from "../support/lossy-proxy.ts";
import { writePreviousNetworks } from "../support/previous-networks.ts";
import { startTestService, USER } from "../support/service.ts";

const CLI = join(PACKAGE_ROOT, "dist/src/cli/main.js");
const PEOPLE = ["p0", "p1", "p2", "p3", "p4", "p5"];

const folder = mkdtempSync(join(tmpdir(), "visage-migration-"));
const photos = new Map<string, Buffer>();
let service: RunningService;
let database: SqlDatabase;
let store: GalleryStore;
let userId: string;
let client: VisageClient;
let previousModel: string;
let previous: Analyzer;

beforeAll(async () => {
  const modelsDir = join(folder, "models");
  previousModel = writePreviousNetworks(modelsDir);
  const dataDir = join(folder, "data");
  const env = { VISAGE_DATA_DIR: dataDir, VISAGE_PREVIOUS_MODELS_DIR: modelsDir };
  service = await startTestService(env);
  database = await openDatabase({ databaseUrl: undefined, dataDir });
  store = createSqlGalleryStore(database);
  userId = String((await database.query({ sql: "select id from users" }))[0]!.id);
  client = createVisageClient({ address: `http://127.0.0.1:${service.port}`, apiKey: USER });
  previous = await openAnalyzer({ modelsDir });
  // Faces that can be enrolled.
  const faces = ALL_FACES.filter(({ sample, name }) => sample !== 2 && name !== "sample 3, face 2");
  for (const [i, personId] of PEOPLE.entries()) {
    const { sample, box } = faces[i]!;
    const photo = await cropPhotograph(sample, growBox(box, 1.4)).jpeg().toBuffer();
    photos.set(personId, photo);
    mkdirSync(join(folder, "people", personId), { recursive: true });
    writeFileSync(join(folder, "people", personId, "photo.jpg"), photo);
  }
});
afterAll(async () => {
  client.close();
  await previous.close();
  await database.close();
  await service.close();
  rmSync(folder, { recursive: true });
});

let ids = 0;
let galleryId: string;
/** Each test has a gallery of the previous model with all people. */
beforeEach(async () => {
  galleryId = `g${++ids}`;
  const gallery = { id: galleryId, displayName: "Staff", model: previousModel, maxDistance: 0.44 };
  await store.createGallery(userId, gallery, {});
  for (const [personId, photo] of photos) {
    const { embedding } = await previous.embed(photo);
    const face = { personId, faceId: "old", displayName: `Name of ${personId}`, embedding };
    await store.enrolFaces(userId, galleryId, previousModel, [face], {});
  }
});

function run(args: readonly string[], port = service.port) {
  const server = ["--server", `http://127.0.0.1:${port}`];
  return runInProcess(["galleries", ...args, ...server], { VISAGE_KEY: USER });
}

const migrate = (people = "people", ...options: string[]) =>
  run(["migrate", galleryId, join(folder, people), ...options]);

/** Expects that a search finds the person of a photo, by the templates of a model. */
async function expectFound(personId: string, model: string, id = galleryId): Promise<void> {
  const { faces, ...rest } = await client.galleries.identify(id, photos.get(personId)!);
  expect(rest).toMatchObject({ model });
  expect(faces[0]!.matches[0]).toMatchObject({ personId, displayName: `Name of ${personId}` });
}

test("a gallery is migrated once, with its name, threshold and people", async () => {
  await client.rawGalleries.updateGallery({ galleryId, alias: `staff-${galleryId}` });
  mkdirSync(join(folder, "more"), { recursive: true });
  cpSync(join(folder, "people"), join(folder, "more"), { recursive: true });
  cpSync(join(folder, "people", "p1"), join(folder, "more", "stranger"), { recursive: true });
  await expectFound("p1", previousModel);
  expect(await migrate("more")).toEqual({
    code: 0,
    stdout: [
      `${galleryId}~next: 6 faces enrolled, 0 enrolled before, 0 photos failed`,
      `${galleryId}: switched to ${MODEL} with 6 people and 6 faces`,
      "",
    ].join("\n"),
    stderr: `visage: ${galleryId}: 1 folder skipped of people who are not in the gallery\n`,
  });
  for (const id of [galleryId, `staff-${galleryId}`]) await expectFound("p1", MODEL, id);
  const gallery = await client.galleries.get(galleryId);
  expect(gallery).toMatchObject({ galleryId, displayName: "Staff", peopleCount: 6, model: MODEL });
  expect(gallery.maxDistance).toBeCloseTo(0.44);
  expect(await run(["show", `${galleryId}~next`])).toMatchObject({ code: 1 });
  expect(await migrate()).toMatchObject({
    code: 0,
    stdout: `${galleryId}: has the model of the service already\n`,
  });
});

test("a migration that was killed goes on, and searches use the old templates until it switches", async () => {
  let responses = 0;
  let resolve = () => {};
  const stalled = new Promise<void>((done) => {
    resolve = done;
  });
  // Responses before the enrolment, and of some enrolments.
  const port = await startLossyProxy(service.port, (type) => {
    if (type !== FRAME.data || responses++ < 7) return "pass";
    resolve();
    return "stall";
  });
  const args = [
    "galleries",
    "migrate",
    galleryId,
    join(folder, "people"),
    "--server",
    `http://127.0.0.1:${port}`,
  ];
  const child = spawn(process.execPath, [CLI, ...args], {
    env: { PATH: process.env.PATH, VISAGE_KEY: USER },
    stdio: ["ignore", "ignore", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await stalled;
  child.kill("SIGKILL");
  await once(child, "exit");
  const { faceCount } = await client.galleries.get(`${galleryId}~next`);
  expect(faceCount).toBeGreaterThan(0);
  await expectFound("p2", previousModel);
  const { code, stdout } = await migrate();
  expect([code, stdout]).toEqual([0, expect.stringMatching(/, [1-6] enrolled before, /)]);
  await expectFound("p2", MODEL);
});

test("a migration with people who have no photo switches only if it may", async () => {
  mkdirSync(join(folder, "some"), { recursive: true });
  cpSync(join(folder, "people", "p0"), join(folder, "some", "p0"), { recursive: true });
  mkdirSync(join(folder, "some", "p1"), { recursive: true });
  writeFileSync(join(folder, "some", "p1", "cut.jpg"), photos.get("p1")!.subarray(0, 500));
  const first = await migrate("some");
  expect(first.code).toBe(1);
  expect(first.stdout).toContain(`${galleryId}: 5 people are missing; add photos`);
  expect(first.stderr.match(/is missing/g)).toHaveLength(5);
  await expectFound("p3", previousModel);
  expect(await migrate("some", "--allow-missing")).toMatchObject({ code: 0 });
  expect(await client.galleries.get(galleryId)).toMatchObject({ peopleCount: 1, model: MODEL });
});

test("who was deleted or renamed during the migration is so afterwards", async () => {
  // The folder has no photo of p5, so that the first run does not switch.
  cpSync(join(folder, "people"), join(folder, "five"), { recursive: true });
  rmSync(join(folder, "five", "p5"), { recursive: true });
  expect(await migrate("five")).toMatchObject({ code: 1 });
  await client.galleries.deletePerson(galleryId, "p1");
  await client.galleries.deletePerson(galleryId, "p5");
  await client.galleries.updatePerson(galleryId, "p2", { displayName: "Anna" });
  expect(await migrate("five")).toMatchObject({ code: 0 });
  const people = [];
  for await (const { personId, displayName } of client.galleries.listPeople(galleryId))
    people.push(`${personId} ${displayName}`);
  expect(people).toEqual(["p0 Name of p0", "p2 Anna", "p3 Name of p3", "p4 Name of p4"]);
});

test("a successor of another model than the service's is made anew", async () => {
  const gallery = {
    id: `${galleryId}~next`,
    displayName: "",
    model: "sface-000000000000",
    maxDistance: undefined,
  };
  await store.createGallery(userId, gallery, {});
  expect(await migrate()).toMatchObject({ code: 0 });
  await expectFound("p0", MODEL);
});

test("an alias is set, moved and taken away", async () => {
  const alias = `alias-${galleryId}`;
  expect(await run(["alias", galleryId, alias])).toMatchObject({
    code: 0,
    stdout: `${alias} is an alias of ${galleryId}.\n`,
  });
  await expectFound("p0", previousModel, alias);
  const { stdout } = await run(["show", alias]);
  expect(stdout).toMatch(`gallery    ${galleryId}\nalias      ${alias}\n`);
  expect(stdout).toMatch(`model      ${previousModel} (earlier; read-only)\n`);
  expect(await run(["alias", alias, galleryId])).toMatchObject({
    code: 1,
    stderr: `visage: There is a gallery with the id ${galleryId}.\n`,
  });
  expect(await run(["alias", galleryId])).toMatchObject({ stdout: `${galleryId} has no alias.\n` });
  expect(await run(["show", alias])).toMatchObject({ code: 1 });
});
