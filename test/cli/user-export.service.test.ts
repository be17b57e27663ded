import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createSqlStore } from "../../src/accounts/sql-store.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import { MAX_ENROLMENT_BATCH } from "../../src/galleries/gallery-store.ts";
import { parseMasterKeys } from "../../src/galleries/master-keys.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import { runInProcess } from "../support/command-line.ts";
import { MODEL, NO_LIMITS, newFace } from "../support/gallery-contract.ts";
import { addUser, createUser } from "../support/store-contract.ts";

const PEOPLE = 2.5 * MAX_ENROLMENT_BATCH;

test("visage users show --export has all galleries, people and templates, also of those who have expired", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "visage-export-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const [ann, bob] = [createUser("ann"), createUser("bob")];
  const database = await openDatabase({ databaseUrl: undefined, dataDir });
  const store = createSqlGalleryStore(database, { now: () => new Date(0) });
  for (const user of [ann, bob]) {
    await addUser(createSqlStore(database), user);
    for (const id of ["a", "b", "empty"]) {
      const gallery = { id, displayName: `The ${id}`, model: MODEL, maxDistance: undefined };
      await store.createGallery(user.id, gallery, NO_LIMITS);
    }
  }
  const expiresAt = new Date("2026-01-01T00:00:00Z");
  const faces = Array.from({ length: PEOPLE }, (_, i) =>
    newFace(`p${i % 200}`, `${i}`, { displayName: `Person ${i % 200}`, expiresAt }),
  );
  for (let i = 0; i < PEOPLE; i += MAX_ENROLMENT_BATCH)
    await store.enrolFaces(ann.id, "a", MODEL, faces.slice(i, i + MAX_ENROLMENT_BATCH), NO_LIMITS);
  await store.enrolFaces(ann.id, "b", MODEL, [newFace("q")], NO_LIMITS);
  await store.enrolFaces(bob.id, "b", MODEL, [newFace("of-bob")], NO_LIMITS);
  await database.close();

  const show = (...args: string[]) =>
    runInProcess(["users", "show", "ann", "--export", ...args], { VISAGE_DATA_DIR: dataDir });
  const { stdout, stderr, code } = await show();
  expect(code).toBe(0);
  const audited = stderr.split("\n").filter((line) => line.startsWith("{"));
  expect(audited.map((line) => JSON.parse(line))).toMatchObject([
    { event: "audit", operation: "ExportUser", source: "command line", target_user: ann.fingerprint },
  ]);
  const { galleries, ...rest } = JSON.parse(stdout);
  expect(rest).toMatchObject({ user: { name: "ann" }, keys: [{}], usage: [] });
  expect(stdout).not.toContain("of-bob");
  expect(galleries).toMatchObject([
    { id: "a", display_name: "The a", model: MODEL, max_distance: null, expires_at: null },
    { id: "b", people: [{ id: "q", expires_at: null, faces: [{ id: "1" }] }] },
    { id: "empty", people: [] },
  ]);
  const { people } = galleries[0];
  expect(people).toHaveLength(200);
  const person = people.find(({ id }: { id: string }) => id === "p17");
  expect(person).toMatchObject({ display_name: "Person 17", expires_at: expiresAt.toISOString() });
  const expected = [faces[17]!, faces[217]!].map(({ faceId, embedding }) => ({
    id: faceId,
    created_at: expect.any(String),
    embedding: { values: [...embedding], model: MODEL },
  }));
  expect(person.faces).toEqual(expected);

  const file = join(dataDir, "export.json");
  expect(await show("--output", file)).toMatchObject({ code: 0, stdout: "" });
  expect(JSON.parse(await readFile(file, "utf8")).galleries).toEqual(galleries);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await show("--output", file)).toMatchObject({ code: 1, stderr: expect.stringContaining("--force") });
  expect(await show("--output", file, "--force")).toMatchObject({ code: 0 });
});

test("an export decrypts templates, and writes nothing without the master key", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "visage-export-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const ann = createUser("ann");
  const key = "ab".repeat(32);
  const database = await openDatabase({ databaseUrl: undefined, dataDir });
  const store = createSqlGalleryStore(database, { keys: parseMasterKeys(key) });
  await addUser(createSqlStore(database), ann);
  await store.createGallery(
    ann.id,
    { id: "a", displayName: "", model: MODEL, maxDistance: undefined },
    NO_LIMITS,
  );
  const face = newFace("p");
  await store.enrolFaces(ann.id, "a", MODEL, [face], NO_LIMITS);
  await database.close();
  const show = (env: Record<string, string>) =>
    runInProcess(["users", "show", "ann", "--export"], { VISAGE_DATA_DIR: dataDir, ...env });
  const { galleries } = JSON.parse((await show({ VISAGE_TEMPLATE_KEY: key })).stdout);
  expect(galleries[0].people[0].faces[0].embedding.values).toEqual([...face.embedding]);
  expect(await show({})).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/VISAGE_TEMPLATE_KEY lacks the master key/),
  });
});
