// Erasure from the SQLite file that is interrupted or impossible for a while.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createSqlStore } from "../../src/accounts/sql-store.ts";
import { createAuditTrail } from "../../src/audit/create-audit-trail.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import type { ErasureCallbacks } from "../../src/database/sql-database.ts";
import type { NewFace } from "../../src/galleries/gallery-store.ts";
import type { Expiry } from "../../src/galleries/sql-expiry.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import { auditExpiry } from "../../src/service/audit-expiry.ts";
import { readAudit } from "../support/audit.ts";
import { canMount, fillDisk, mountDisk } from "../support/disk.ts";
import { MODEL, NO_LIMITS, newFace } from "../support/gallery-contract.ts";
import { addUser, createUser } from "../support/store-contract.ts";

const ANN = createUser("ann");
const FACES = Array.from({ length: 3_000 }, (_, i) => newFace(`p${i}`));

let folder: string;
let folders = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "visage-erasure-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function open(dataDir: string, callbacks?: ErasureCallbacks) {
  const database = await openDatabase({ databaseUrl: undefined, dataDir }, callbacks);
  onTestFinished(() => database.close());
  return { database, accounts: createSqlStore(database), store: createSqlGalleryStore(database) };
}

type Opened = Awaited<ReturnType<typeof open>>;

async function createGallery({ accounts, store }: Opened): Promise<void> {
  await addUser(accounts, ANN);
  const gallery = { id: "g", displayName: "", model: MODEL, maxDistance: undefined };
  await store.createGallery(ANN.id, gallery, NO_LIMITS);
}

async function enrol({ store }: Opened, faces: readonly NewFace[]): Promise<void> {
  for (let i = 0; i < faces.length; i += 100)
    await store.enrolFaces(ANN.id, "g", MODEL, faces.slice(i, i + 100), NO_LIMITS);
}

/** The path of a compiled module as code. */
function compiled(path: string): string {
  return JSON.stringify(join(import.meta.dirname, "../../dist/src", path));
}

/** Counts the templates of which a file of the folder has the first 64 bytes. */
async function countTraces(dataDir: string, faces: readonly NewFace[] = FACES): Promise<number> {
  const files = await Promise.all((await readdir(dataDir)).map((name) => readFile(join(dataDir, name))));
  return faces.filter(({ embedding }) => {
    const start = Buffer.from(embedding.buffer, embedding.byteOffset, 64);
    return files.some((file) => file.includes(start));
  }).length;
}

test("a process that is killed when a deletion is stored leaves the rest to the next start", async () => {
  const dataDir = join(folder, `${++folders}`);
  const before = await open(dataDir);
  await createGallery(before);
  await enrol(before, FACES);
  await before.database.close();
  const program = `
    const { openDatabase } = await import(${compiled("database/open-database.js")});
    const { createSqlGalleryStore } = await import(${compiled("galleries/sql-gallery-store.js")});
    const database = await openDatabase({ dataDir: ${JSON.stringify(dataDir)} });
    await createSqlGalleryStore(database).deleteGallery(${JSON.stringify(ANN.id)}, "g");
    process.kill(process.pid, "SIGKILL");`;
  const child = spawn("node", ["--input-type=module", "-e", program], { stdio: "inherit" });
  expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
  const { store, database } = await open(dataDir);
  await expect(store.getGallery(ANN.id, "g")).rejects.toMatchObject({ kind: "galleryNotFound" });
  expect(await countTraces(dataDir)).toBeGreaterThan(0);
  store.finishDeletions();
  expect(await store.waitForErasure(Number.POSITIVE_INFINITY)).toBe(true);
  expect(await countTraces(dataDir)).toBe(0);
  expect(await database.query({ sql: "select key from galleries" })).toEqual([]);
});

test("no earlier name of a person or a gallery, and no id of a deleted person, stays in the file", async () => {
  const dataDir = join(folder, `${++folders}`);
  const opened = await open(dataDir);
  const { store, database } = opened;
  await createGallery(opened);
  const rename = (displayName: string) => store.updateGallery(ANN.id, "g", { displayName });
  await enrol(opened, [newFace("trace-id"), newFace("kept", "1", { displayName: "Trace by person" })]);
  await enrol(opened, [newFace("other", "1", { displayName: "Trace by enrolment" })]);
  await rename("Trace of gallery");
  const traces = async () => {
    const files = await Promise.all((await readdir(dataDir)).map((name) => readFile(join(dataDir, name))));
    const found = files.join("").match(/trace[- ](id|by person|by enrolment|of gallery)/gi) ?? [];
    return [...new Set(found)].sort();
  };
  expect(await traces()).toEqual(["Trace by enrolment", "Trace by person", "Trace of gallery", "trace-id"]);
  const steps: readonly [() => Promise<unknown>, string][] = [
    [() => store.updatePerson(ANN.id, "g", "kept", { displayName: "New" }), "Trace by person"],
    [() => enrol(opened, [newFace("other", "2", { displayName: "New" })]), "Trace by enrolment"],
    [() => rename("New"), "Trace of gallery"],
    [() => store.deletePerson(ANN.id, "g", "trace-id"), "trace-id"],
  ];
  for (const [change, trace] of steps) {
    await change();
    expect(await store.waitForErasure(Number.POSITIVE_INFINITY)).toBe(true);
    expect(await traces()).not.toContain(trace);
  }
  await database.close();
});

test("a process that is killed while it removes who has expired leaves the rest to another one, and a line for each", async () => {
  const dataDir = join(folder, `${++folders}`);
  const audit = `${dataDir}.jsonl`;
  const opened = await open(dataDir);
  await createGallery(opened);
  const expiresAt = new Date(Date.now() + 86_400_000);
  await enrol(
    opened,
    FACES.map((face) => ({ ...face, expiresAt })),
  );
  const program = `
    const { writeSync } = await import("node:fs");
    const { openDatabase } = await import(${compiled("database/open-database.js")});
    const { createSqlGalleryStore } = await import(${compiled("galleries/sql-gallery-store.js")});
    const database = await openDatabase({ dataDir: ${JSON.stringify(dataDir)} });
    const { createAuditTrail } = await import(${compiled("audit/create-audit-trail.js")});
    const { auditExpiry } = await import(${compiled("service/audit-expiry.js")});
    const { onDue } = auditExpiry(createAuditTrail(${JSON.stringify(audit)}, { policy: "stop" }));
    const onExpiry = (expired) => {
      writeSync(1, JSON.stringify(expired));
      process.kill(process.pid, "SIGKILL");
    };
    const now = () => new Date(${expiresAt.getTime()});
    const store = createSqlGalleryStore(database, { now, onDue, onExpiry });
    await store.removeExpired(new AbortController().signal);`;
  const child = spawnSync("node", ["--input-type=module", "-e", program], { encoding: "utf8" });
  expect(child).toMatchObject({ signal: "SIGKILL", stderr: "" });
  const expired = JSON.parse(child.stdout) as Expiry[];
  expect(expired.length).toBeGreaterThan(0);
  expect(expired.length).toBeLessThan(FACES.length);
  const peopleOf = (phase: string) =>
    readAudit(audit).flatMap((line) => (line.phase === phase ? line.people! : []));
  const removed = expired.map(({ personId }) => personId!);
  expect([peopleOf("start").toSorted(), peopleOf("end")]).toEqual([removed.toSorted(), []]);

  const trail = createAuditTrail(audit, { policy: "stop" });
  const other = createSqlGalleryStore(opened.database, { now: () => expiresAt, ...auditExpiry(trail) });
  await other.removeExpired(new AbortController().signal);
  await trail.close();
  const all = FACES.map(({ personId }) => personId).toSorted();
  expect([...removed, ...peopleOf("end")].toSorted()).toEqual(all);
  expect(peopleOf("start").toSorted()).toEqual(all);
  expect(await other.waitForErasure(Number.POSITIVE_INFINITY)).toBe(true);
  expect(await countTraces(dataDir)).toBe(0);
});

test.skipIf(!canMount)(
  "a full disk delays an erasure until there is space, and loses nothing",
  async () => {
    const disk = join(folder, `disk-${++folders}`);
    await mkdir(disk);
    mountDisk(disk, "16m");
    const dataDir = join(disk, "data");
    const reports: string[] = [];
    const opened = await open(dataDir, {
      onErasureDelay: (cause) => reports.push(String(cause)),
      onErasureEnd: () => reports.push("finished"),
    });
    const { store } = opened;
    await createGallery(opened);
    const backup = new Database(join(dataDir, "accounts.db"));
    onTestFinished(() => void backup.close());
    backup.exec("begin");
    backup.prepare("select count(*) from galleries").all([]);
    // These faces are in the log, and the file has no room for them.
    await enrol(opened, FACES);
    await store.deletePerson(ANN.id, "g", "p0");
    const ballast = fillDisk(disk);
    backup.exec("rollback");
    await expect.poll(() => reports.at(-1), { timeout: 20_000 }).toMatch(/disk is full/);

    await expect(store.getPerson(ANN.id, "g", "p0")).rejects.toMatchObject({ kind: "personNotFound" });
    await expect(store.deleteGallery(ANN.id, "g")).rejects.toMatchObject({ code: "SQLITE_FULL" });
    expect(await store.getGallery(ANN.id, "g")).toMatchObject({ faces: FACES.length - 1 });
    rmSync(ballast);
    await expect.poll(() => reports.at(-1), { timeout: 20_000 }).toBe("finished");
    expect(await countTraces(dataDir)).toBe(FACES.length - 1);
    await store.deleteGallery(ANN.id, "g");
    expect(await store.waitForErasure(Number.POSITIVE_INFINITY)).toBe(true);
    expect(await countTraces(dataDir)).toBe(0);
  },
  60_000,
);
