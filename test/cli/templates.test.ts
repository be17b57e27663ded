import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { createSqlStore } from "../../src/accounts/sql-store.ts";
import { Interruption } from "../../src/cli/command.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import { parseMasterKeys } from "../../src/galleries/master-keys.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import { runInProcess } from "../support/command-line.ts";
import { MODEL, NO_LIMITS, newFace } from "../support/gallery-contract.ts";
import { addUser, createUser } from "../support/store-contract.ts";

const [KEY, NEXT] = [randomBytes(32).toString("base64"), randomBytes(32).toString("hex")];
const fingerprintOf = (key: string) => parseMasterKeys(key).first!.fingerprint;
const ANN = createUser("ann");
const FACES = Array.from({ length: 450 }, (_, i) => newFace(`p${i}`));

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "visage-templates-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  await withDatabase(async ({ accounts, store }) => {
    await addUser(accounts, ANN);
    await store.createGallery(
      ANN.id,
      { id: "g", displayName: "", model: MODEL, maxDistance: undefined },
      NO_LIMITS,
    );
    for (let i = 0; i < FACES.length; i += 100)
      await store.enrolFaces(ANN.id, "g", MODEL, FACES.slice(i, i + 100), NO_LIMITS);
  });
});

async function withDatabase<T>(work: (opened: Awaited<ReturnType<typeof open>>) => Promise<T>): Promise<T> {
  const opened = await open();
  try {
    return await work(opened);
  } finally {
    await opened.database.close();
  }
}

async function open(key?: string) {
  const database = await openDatabase({ databaseUrl: undefined, dataDir });
  const store = createSqlGalleryStore(database, { keys: parseMasterKeys(key) });
  return { database, accounts: createSqlStore(database), store };
}

const run = (command: string, key: string, ...args: readonly string[]) =>
  runInProcess(["templates", command, ...args], { VISAGE_DATA_DIR: dataDir, VISAGE_TEMPLATE_KEY: key });
const statusOf = async (key = "") => JSON.parse((await run("status", key, "--json")).stdout);
/** The files without the one of shared memory, which has no data. */
const readFiles = async () => {
  const names = (await readdir(dataDir)).filter((name) => !name.endsWith("-shm"));
  return Promise.all(names.toSorted().map((name) => readFile(join(dataDir, name))));
};

/** Counts the templates, of every tenth one, of which a file has 16 bytes at a multiple of 16. */
async function countTraces(): Promise<number> {
  const files = await readFiles();
  return FACES.filter((_, i) => i % 10 === 0).filter(({ embedding: { buffer } }) =>
    Array.from({ length: 32 }, (_, i) => Buffer.from(buffer as ArrayBuffer, 16 * i, 16)).some((part) =>
      files.some((file) => file.includes(part)),
    ),
  ).length;
}

test("templates are encrypted, re-encrypted by another master key, and decrypted, and the former bytes erased", async () => {
  expect(await countTraces()).toBe(45);
  const [first, next] = [fingerprintOf(KEY), fingerprintOf(NEXT)];
  expect(await statusOf()).toEqual({ plain: 450, encrypted: 0, master_keys: [] });
  expect(await run("encrypt", KEY)).toMatchObject({
    code: 0,
    stdout: `Encrypted 450 templates and 0 data keys. The master key is ${first}.\n`,
  });
  expect(await countTraces()).toBe(0);
  expect((await run("status", "")).stdout).toBe(
    `0 templates are plain, 450 encrypted\n1 data key by master key ${first} (missing)\n`,
  );
  expect(await run("encrypt", `${NEXT}\n${KEY}`)).toMatchObject({
    stdout: `Encrypted 0 templates and 1 data key. The master key is ${next}.\n`,
  });
  expect(await statusOf(`${KEY} ${NEXT}`)).toMatchObject({
    master_keys: [{ fingerprint: next, users: 1, state: "configured" }],
  });
  const dataKey = await withDatabase(async ({ database }) => {
    const [row] = await database.query({ sql: "select wrapped from data_keys" });
    return Buffer.from(row!.wrapped as ArrayBuffer);
  });
  expect(await run("decrypt", `plain ${NEXT}`)).toMatchObject({
    code: 0,
    stdout: "Decrypted 450 templates.\n",
  });
  expect(await statusOf()).toEqual({ plain: 450, encrypted: 0, master_keys: [] });
  expect((await readFiles()).some((file) => file.includes(dataKey))).toBe(false);
  const { database, store } = await open();
  onTestFinished(() => database.close());
  const { key } = await store.getGallery(ANN.id, "g");
  const stored = await store.readFaces(key, { size: 1_000 });
  const byId = new Map(FACES.map((face) => [face.personId, face.embedding]));
  for (const { personId, embedding } of stored) expect(embedding).toEqual(byId.get(personId));
});

test("an interrupted encryption is resumed", async () => {
  const controller = new AbortController();
  controller.abort(new Interruption(130));
  const env = { VISAGE_DATA_DIR: dataDir, VISAGE_TEMPLATE_KEY: KEY };
  const interrupted = await runInProcess(["templates", "encrypt"], env, {
    interruptSignal: () => controller.signal,
  });
  expect(interrupted).toMatchObject({ code: 130, stdout: "" });
  expect(await statusOf()).toMatchObject({ plain: 250, encrypted: 200 });
  expect((await run("encrypt", KEY)).stdout).toMatch(/^Encrypted 250 templates/);
  expect(await countTraces()).toBe(0);
});

test("the removal of a user leaves no data key in a file", async () => {
  await run("encrypt", KEY);
  const wrapped = await withDatabase(async ({ database, store }) => {
    await store.deleteGallery(ANN.id, "g");
    expect(await store.waitForErasure(Number.POSITIVE_INFINITY)).toBe(true);
    const [row] = await database.query({ sql: "select wrapped from data_keys" });
    return Buffer.from(row!.wrapped as ArrayBuffer);
  });
  const hasKey = async () => (await readFiles()).some((file) => file.includes(wrapped));
  expect(await hasKey()).toBe(true);
  const { code } = await runInProcess(["users", "remove", "ann", "--yes"], { VISAGE_DATA_DIR: dataDir });
  expect([code, await hasKey()]).toEqual([0, false]);
});

test("wrong, missing and unfit keys change no byte", async () => {
  await run("encrypt", KEY);
  const before = await readFiles();
  const first = fingerprintOf(KEY);
  const unset = "VISAGE_TEMPLATE_KEY must be set, and";
  const lacks = `VISAGE_TEMPLATE_KEY lacks the master key ${first}, with which templates are encrypted; it has`;
  const failures: readonly [string, string, string][] = [
    ["encrypt", NEXT, `${lacks} ${fingerprintOf(NEXT)}`],
    ["encrypt", "", `${unset} not start with "plain"`],
    ["encrypt", `plain ${KEY}`, `${unset} not start with "plain"`],
    ["decrypt", KEY, `${unset} start with "plain"`],
    ["decrypt", "", `${unset} start with "plain"`],
    ["decrypt", `plain ${NEXT}`, `${lacks} ${fingerprintOf(NEXT)}`],
    ["status", "short", "VISAGE_TEMPLATE_KEY must be keys of 32 bytes"],
  ];
  for (const [command, key, message] of failures) {
    const { code, stdout, stderr } = await run(command, key);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`visage: ${message}`);
    for (const [i, file] of (await readFiles()).entries()) expect(file.equals(before[i]!)).toBe(true);
  }
});

test("the keys may be in a file, and the database must exist", async () => {
  const path = join(dataDir, "template-key");
  await writeFile(path, `${KEY}\n`);
  const runIn = (folder: string) =>
    runInProcess(["templates", "encrypt"], { VISAGE_DATA_DIR: folder, VISAGE_TEMPLATE_KEY_FILE: path });
  expect(await runIn(join(dataDir, "none"))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("There is no account database"),
  });
  expect(await runIn(dataDir)).toMatchObject({ code: 0 });
});
