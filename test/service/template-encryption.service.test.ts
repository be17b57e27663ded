import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { ExportGalleryResponse } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { runInProcess } from "../support/command-line.ts";
import { canMount, fillDisk, mountDisk } from "../support/disk.ts";
import {
  createGalleryClient,
  enrol,
  errorOf,
  type GalleryClient,
  identify,
  MODEL,
  type TestPerson,
  testPeople,
} from "../support/galleries.ts";
import { captureLog } from "../support/log.ts";
import { startTestService, USER } from "../support/service.ts";

const [KEY, NEXT] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")];
const PEOPLE = testPeople(40, 1);

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "visage-encrypted-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
});

const settingsOf = (key: string) => ({ VISAGE_DATA_DIR: dataDir, VISAGE_TEMPLATE_KEY: key });

async function start(key: string, log = captureLog().log) {
  const service = await startTestService(settingsOf(key), log);
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= service.close());
  onTestFinished(close);
  return { client: createGalleryClient(service, USER), close };
}

/** Counts the people of whose templates a file has 16 bytes at a multiple of 16. */
async function countTraces(people: readonly TestPerson[]): Promise<number> {
  const files = await Promise.all((await readdir(dataDir)).map((name) => readFile(join(dataDir, name))));
  return people.filter(({ values }) => {
    const bytes = Buffer.from(new Float32Array(values).buffer);
    const parts = Array.from({ length: 32 }, (_, i) => bytes.subarray(16 * i, 16 * (i + 1)));
    return parts.some((part) => files.some((file) => file.includes(part)));
  }).length;
}

test("people are enrolled, identified, exported and imported, and no file has a piece of a template", async () => {
  const { client } = await start(KEY);
  for (const galleryId of ["g", "copy"]) await client.createGallery({ galleryId });
  for (const person of PEOPLE) await enrol(client, "g", person);
  for (const person of PEOPLE.slice(0, 3))
    expect(await identify(client, "g", person)).toEqual([person.personId]);
  const exported = await readGallery(client, "g");
  expect(exported.map(({ embedding }) => embedding!.values)).toContainEqual(PEOPLE[7]!.values);
  async function* faces() {
    for (const { personId, faceId, embedding } of exported)
      yield { galleryId: "copy", personId, faceId, embedding: embedding! };
  }
  expect(await client.importFaces(faces())).toMatchObject({ faceCount: PEOPLE.length });
  expect((await readGallery(client, "copy")).map(withoutTime)).toEqual(exported.map(withoutTime));
  expect(await countTraces(PEOPLE)).toBe(0);
});

async function readGallery(client: GalleryClient, galleryId: string): Promise<ExportGalleryResponse[]> {
  const faces: ExportGalleryResponse[] = [];
  for await (const face of client.exportGallery({ galleryId })) faces.push(face);
  return faces;
}

const withoutTime = ({ personId, faceId, embedding }: ExportGalleryResponse) => [
  personId,
  faceId,
  embedding!.values,
];

test("a gallery with a damaged template is unavailable with the cause in the log, and no other one suffers", async () => {
  const { log, lines, events } = captureLog();
  const { client } = await start(KEY, log);
  const [one, other] = PEOPLE as [TestPerson, TestPerson];
  for (const galleryId of ["damaged", "read", "whole"]) {
    await client.createGallery({ galleryId });
    for (const person of [one, other]) await enrol(client, galleryId, person);
  }
  // In memory before the damage.
  expect(await identify(client, "read", one)).toEqual(["p0"]);
  const file = new Database(join(dataDir, "accounts.db"));
  file.exec(`update gallery_faces set template = (select template from gallery_faces swapped
    where swapped.gallery_key = gallery_faces.gallery_key and swapped.person_id = 'p1')
    where person_id = 'p0' and gallery_key in (select key from galleries where id <> 'whole')`);
  file.close();
  const unavailable = ["Unavailable", "GALLERIES_UNAVAILABLE"];
  for (const galleryId of ["damaged", "read"]) {
    expect(await errorOf(identify(client, galleryId, one))).toEqual(unavailable);
    expect(await errorOf(readGallery(client, galleryId))).toEqual(unavailable);
  }
  for (const person of [one, other])
    expect(await identify(client, "whole", person)).toEqual([person.personId]);
  expect(await identify(client, "read", other)).toEqual(["p1"]);
  expect(await readGallery(client, "whole")).toHaveLength(2);
  const causes = lines.filter(({ reason }) => reason === "GALLERIES_UNAVAILABLE").map(({ cause }) => cause);
  expect(causes).toHaveLength(4);
  for (const cause of causes)
    expect(cause).toMatch(/^The template [0-9a-f-]{36}\/p0\/f cannot be decrypted: it was damaged/);
  expect(events("search process lost")).toEqual([]);
  // Whoever enrols the face again repairs it.
  await enrol(client, "damaged", one);
  expect(await identify(client, "damaged", one)).toEqual(["p0"]);
});

test.each([
  ["another key", NEXT],
  ["no key", ""],
])("the service does not start with %s, and changes nothing", async (_, key) => {
  const { client, close } = await start(KEY);
  await client.createGallery({ galleryId: "g" });
  await enrol(client, "g", PEOPLE[0]!);
  await close();
  const files = async () =>
    Promise.all(["accounts.db", "accounts.db-wal"].map((name) => readFile(join(dataDir, name))));
  const before = await files();
  const settings = { ...settingsOf(key), VISAGE_TRIAL_USER: "another-trial-user" };
  await expect(startTestService(settings)).rejects.toThrow(
    /^VISAGE_TEMPLATE_KEY lacks the master key [0-9a-f]{16}, with which templates are encrypted; it has ([0-9a-f]{16}|none)$/,
  );
  for (const [i, file] of (await files()).entries()) expect(file.equals(before[i]!)).toBe(true);
});

test("the key can be replaced while a service enrols and searches", async () => {
  const { client } = await start(`${KEY} ${NEXT}`);
  await client.createGallery({ galleryId: "g" });
  const encryption = runInProcess(["templates", "encrypt"], settingsOf(`${NEXT} ${KEY}`));
  for (const person of PEOPLE) {
    await enrol(client, "g", person);
    expect(await identify(client, "g", person)).toEqual([person.personId]);
  }
  expect(await encryption).toMatchObject({ code: 0 });
  const again = await runInProcess(["templates", "encrypt"], settingsOf(`${NEXT} ${KEY}`));
  expect(again.stdout).toMatch(/^Encrypted 0 templates and [01] data keys?\./);
  for (const person of PEOPLE.slice(0, 3))
    expect(await identify(client, "g", person)).toEqual([person.personId]);
  const { client: next } = await start(NEXT);
  expect(await readGallery(next, "g")).toHaveLength(PEOPLE.length);
});

/** Starts a service without a key and imports people. */
async function startWithPlain(people: readonly TestPerson[]) {
  const service = await start("");
  await service.client.createGallery({ galleryId: "g" });
  async function* faces() {
    for (const { personId, faceId, values } of people)
      yield { galleryId: "g", personId, faceId, embedding: { values, model: MODEL } };
  }
  await service.client.importFaces(faces());
  return service;
}

const runTemplates = (...args: readonly string[]) => runInProcess(["templates", ...args], settingsOf(KEY));
const statusOf = async () => JSON.parse((await runTemplates("status", "--json")).stdout);

/** Expects that an encryption was interrupted, harms no search, and is finished when it is repeated. */
async function expectResumed(people: readonly TestPerson[]): Promise<void> {
  const { plain, encrypted } = await statusOf();
  expect([plain > 0, encrypted > 0, plain + encrypted]).toEqual([true, true, people.length]);
  const { client } = await start(KEY);
  expect(await identify(client, "g", people[0]!)).toEqual(["p0"]);
  const { code, stdout } = await runTemplates("encrypt");
  expect([code, stdout]).toEqual([0, expect.stringMatching(`^Encrypted ${plain} templates`)]);
  expect(await statusOf()).toMatchObject({ plain: 0, encrypted: people.length });
  expect(await countTraces(people.slice(0, 30))).toBe(0);
  const last = people.at(-1)!;
  expect(await identify(client, "g", last)).toEqual([last.personId]);
}

test("an encryption that is killed is finished by the next one, while a service runs", async () => {
  const people = testPeople(3_000, 2);
  const { client } = await startWithPlain(people);
  const program = [join(PACKAGE_ROOT, "dist/src/cli/main.js"), "templates", "encrypt"];
  const child = spawn(process.execPath, program, {
    env: { PATH: process.env.PATH, ...settingsOf(KEY) },
    stdio: "inherit",
  });
  await expect.poll(async () => (await statusOf()).encrypted, { timeout: 20_000 }).toBeGreaterThan(0);
  child.kill("SIGKILL");
  await once(child, "exit");
  await expectResumed(people);
  // This service was started without a key, so it says that it lacks one.
  expect(await errorOf(identify(client, "g", people[0]!))).toEqual(["Unavailable", "GALLERIES_UNAVAILABLE"]);
}, 120_000);

test.skipIf(!canMount)(
  "an encryption that fills the disk is finished by the next one",
  async () => {
    mountDisk(dataDir, "32m");
    const people = testPeople(3_000, 3);
    const { close } = await startWithPlain(people);
    await close();
    const file = new Database(join(dataDir, "accounts.db"));
    file.exec("pragma wal_checkpoint(truncate)");
    file.close();
    // The encryption of all needs about three times as much.
    const room = join(dataDir, "room");
    await writeFile(room, Buffer.alloc(1024 ** 2));
    const ballast = fillDisk(dataDir);
    await rm(room);
    expect(await runTemplates("encrypt")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(
        /\nStopped with [1-9]\d+ templates encrypted\. Repeat the command for the others\.\nvisage: database or disk is full\n$/,
      ),
    });
    await rm(ballast);
    await expectResumed(people);
  },
  60_000,
);
