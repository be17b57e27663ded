import { execFile, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Environment } from "../../src/config.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import {
  createGalleryClient,
  embeddingSource,
  type GalleryClient,
  type TestPerson,
  testPeople,
} from "../support/galleries.ts";
import { codeBlocks, readMarkdown } from "../support/markdown.ts";
import { execute, hasPostgres, startPostgres, type TestPostgres } from "../support/postgres.ts";
import { startTestService, USER } from "../support/service.ts";

const run = promisify(execFile);
const isCi = process.env.CI === "true";
const hasTools = (...tools: string[]) =>
  isCi || tools.every((tool) => spawnSync(tool, ["--version"]).status === 0);

const [before, after, late] = testPeople(3, 7);
const PEOPLE = 50;

const createTemplateKey = () => randomBytes(32).toString("base64");
const ENCRYPTIONS: readonly [string, Environment][] = [
  ["plain", {}],
  ["encrypted", { VISAGE_TEMPLATE_KEY: createTemplateKey() }],
];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "visage-runbooks-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

/** Runs the commands of a section of the runbooks in a folder. */
async function runSection(heading: string, env: Environment): Promise<string> {
  const [, section] = readMarkdown("docs/runbooks.md").split(`### ${heading}\n`);
  const [commands] = codeBlocks(section!, "sh");
  const { stdout } = await run("bash", ["-euc", commands!], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
  });
  return stdout;
}

async function identify(galleries: GalleryClient, { values }: TestPerson): Promise<string[]> {
  const { faces } = await galleries.identifyFaces({ galleryId: "staff", source: embeddingSource(values) });
  return faces.flatMap(({ matches }) => matches.map(({ personId }) => personId));
}

/** Starts a service with a gallery of one person and load: another person is enrolled and deleted again and again. */
async function startWithLoad(env: Environment) {
  const service = await startTestService(env);
  const galleries = createGalleryClient(service, USER);
  const enrol = (person = before!) =>
    galleries.enrolFace({
      galleryId: "staff",
      personId: person.personId,
      faceId: person.faceId,
      source: embeddingSource(person.values),
    });
  await galleries.createGallery({ galleryId: "staff" });
  for (const person of testPeople(PEOPLE, 8, "other")) await enrol(person);
  await enrol();
  let isOver = false;
  const load = (async () => {
    while (!isOver) {
      await enrol(after);
      await galleries.deletePerson({ galleryId: "staff", personId: after!.personId });
    }
  })();
  const stopLoad = async () => {
    isOver = true;
    await load;
  };
  return { service, galleries, stopLoad };
}

/** Deletes the person of the backup and enrols another one, and searches for both. */
async function changeGallery(galleries: GalleryClient): Promise<void> {
  await galleries.deletePerson({ galleryId: "staff", personId: before!.personId });
  const { personId, faceId, values } = late!;
  await galleries.enrolFace({ galleryId: "staff", personId, faceId, source: embeddingSource(values) });
  expect(await identify(galleries, before!)).toEqual([]);
  expect(await identify(galleries, late!)).toEqual([personId]);
}

/** Expects that a service knows its user, and the person of the backup, but not the later one. */
async function expectRestored(galleries: GalleryClient): Promise<void> {
  expect(await identify(galleries, before!)).toEqual([before!.personId]);
  expect(await identify(galleries, late!)).toEqual([]);
  const { gallery } = await galleries.getGallery({ galleryId: "staff" });
  // One more, if the backup was made while the other person was enrolled.
  expect([PEOPLE + 1, PEOPLE + 2]).toContain(gallery!.peopleCount);
}

/** Expects that no service starts without the master key of encrypted templates. */
async function expectOtherKeysRejected(env: Environment): Promise<void> {
  if (env.VISAGE_TEMPLATE_KEY === undefined) return;
  for (const VISAGE_TEMPLATE_KEY of [createTemplateKey(), ""])
    await expect(startTestService({ ...env, VISAGE_TEMPLATE_KEY })).rejects.toThrow(
      /^VISAGE_TEMPLATE_KEY lacks the master key [0-9a-f]{16}, with which templates are encrypted/,
    );
}

describe.skipIf(!hasTools("bash", "sqlite3"))("the commands for SQLite", () => {
  test.each(ENCRYPTIONS)("back up a database with %s templates under load and restore it", async (_, key) => {
    const env = { VISAGE_DATA_DIR: join(folder, "data"), ...key };
    const { service, galleries, stopLoad } = await startWithLoad(env);
    expect(await runSection("Back up SQLite", env)).toBe("ok\n");
    await stopLoad();
    await changeGallery(galleries);
    await service.close();
    await runSection("Restore SQLite", env);
    await expectOtherKeysRejected(env);
    const restored = await startTestService(env);
    onTestFinished(() => restored.close());
    await expectRestored(createGalleryClient(restored, USER));
  });
});

describe.skipIf(!hasPostgres || !hasTools("bash", "pg_dump", "pg_restore", "psql"))(
  "the commands for PostgreSQL",
  () => {
    let postgres: TestPostgres;
    beforeAll(async () => {
      postgres = await startPostgres();
    });
    afterAll(() => postgres?.remove());

    test.each(ENCRYPTIONS)(
      "back up a database with %s templates under load and restore it in place while replicas run",
      async (_, key) => {
        const env = { VISAGE_DATABASE_URL: await postgres.createDatabase(), ...key };
        const { service, galleries, stopLoad } = await startWithLoad(env);
        expect(Number(await runSection("Back up PostgreSQL", env))).toBeGreaterThan(8);
        onTestFinished(() => service.close());
        await stopLoad();
        await changeGallery(galleries);
        expect(await runSection("Restore PostgreSQL", env)).toMatch(/version\s+-+\s+\d+\n/);
        await expectRestored(galleries);
        await expectOtherKeysRejected(env);
      },
    );

    test("an old version that is started on a newer schema exits and changes nothing", async () => {
      const databaseUrl = await postgres.createDatabase();
      const env = { PATH: process.env.PATH, VISAGE_DATABASE_URL: databaseUrl, VISAGE_TRIAL_USER: USER };
      const visage = (...args: string[]) =>
        run(process.execPath, [join(PACKAGE_ROOT, "dist/src/cli/main.js"), ...args], { env });
      await visage("users", "add", "--name", "ann", "--init");
      await execute(databaseUrl, "update schema_version set version = 99");
      await expect(visage("serve")).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/has schema version 99, but this version of Visage supports up to \d+/),
      });
      expect(await execute(databaseUrl, "select version from schema_version")).toEqual([{ version: 99 }]);
    });
  },
);
