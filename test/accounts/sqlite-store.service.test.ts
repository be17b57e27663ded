import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import {
  chmod,
  type FileHandle,
  mkdir,
  mkdtemp,
  open as openFile,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "libsql";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { createGate } from "../../src/accounts/gate.ts";
import { migrate } from "../../src/accounts/migrations.ts";
import { openStore } from "../../src/accounts/open-store.ts";
import { createSqlStore } from "../../src/accounts/sql-store.ts";
import { openSqliteStore, SqliteDatabase } from "../../src/accounts/sqlite-store.ts";
import { describeStoreContract, openAt, spawnModule, usageOf, userOf } from "../support/store-contract.ts";

/** Whether this test may mount a file system of its own. */
const canMount =
  process.getuid?.() === 0 && spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "t", "/mnt"]).status === 0;

let folder: string;
let folders = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "visage-store-"));
});
afterAll(() => rm(folder, { recursive: true }));

function executeInFile(dataDir: string, sql: string): Record<string, unknown>[] {
  const file = new Database(join(dataDir, "accounts.db"));
  const rows = file.prepare(sql).all([]) as Record<string, unknown>[];
  file.close();
  return rows;
}

describeStoreContract("SQLite", {
  createPlace: async () => ({ databaseUrl: undefined, dataDir: join(folder, `${++folders}`, "data") }),
  executeAt: async ({ dataDir }, sql) => executeInFile(dataDir, sql),
});

describe("the account store in a file", () => {
  test("is readable by its owner alone, in a folder that is made", async () => {
    const dataDir = join(folder, "a/b");
    const store = await openAt({ databaseUrl: undefined, dataDir });
    await store.addUser(userOf("ann"));
    for (const name of ["accounts.db", "accounts.db-wal", "accounts.db-shm"])
      expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600);
  });

  test("has a change on the disk before it is acknowledged, and stops nobody else meanwhile", async () => {
    const dataDir = join(folder, "synced");
    const store = await openAt({ databaseUrl: undefined, dataDir });
    const handle = await openFile(join(dataDir, "accounts.db-wal"));
    onTestFinished(() => handle.close());
    const sync = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, "datasync");
    onTestFinished(() => sync.mockRestore());
    let reachDisk = () => {};
    sync.mockReturnValue(new Promise((resolve) => (reachDisk = resolve)));

    const sizeBefore = (await handle.stat()).size;
    let isAcknowledged = false;
    const adding = store.addUser(userOf("ann")).then(() => (isAcknowledged = true));
    expect(await store.listUsers()).toHaveLength(1);
    expect((await handle.stat()).size).toBeGreaterThan(sizeBefore);
    await sleep(50);
    expect(sync).toHaveBeenCalledOnce();
    expect(isAcknowledged).toBe(false);
    reachDisk();
    await adding;
  });

  test("is whole after its process is killed while it writes", async () => {
    const place = { databaseUrl: undefined, dataDir: join(folder, "killed") };
    await (await openAt(place)).addUser(userOf("ann"));
    const code = `const store = await openStore(place);
      for (let i = 0; ; i++) {
        await store.addUsage(String(i), Array.from({ length: 500 }, (_, j) => ({ ...usage, outcome: "o" + i + j })));
        if (i === 3) writeSync(1, ".");
      }`;
    const child = spawnModule(code, { place, usage: usageOf(userOf("ann"), 1) });
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "close");
    expect(executeInFile(place.dataDir, "pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
    const counts = await (await openAt(place)).listUsage();
    expect(counts.length % 500).toBe(0);
    expect(counts.length).toBeGreaterThanOrEqual(2_000);
  });
});

describe("an account file that cannot be opened is named at the start, with what to do about it", () => {
  /** The error of opening the file at this place, which `spoil` has made before. */
  async function errorAfter(spoil: (path: string) => Promise<unknown>): Promise<string> {
    const dataDir = join(folder, `spoilt-${++folders}`);
    await mkdir(dataDir);
    const path = join(dataDir, "accounts.db");
    await spoil(path);
    const error = await openStore({ databaseUrl: undefined, dataDir }).then(
      () => new Error("opened"),
      (fault: Error) => fault,
    );
    expect(error.message).toContain(`The accounts in ${path} cannot be opened`);
    return error.message;
  }

  test.each([
    ["of another kind", Buffer.alloc(5000, "no database")],
    ["with a header alone", Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(4080, 7)])],
  ])("a file %s", async (_, bytes) => {
    expect(await errorAfter((path) => writeFile(path, bytes))).toMatch(
      /\(file is not a database\)\. The file is damaged: restore it from a backup, or move it away/,
    );
  });

  test("a file whose pages are damaged", async () => {
    const message = await errorAfter(async (path) => {
      await (await openSqliteStore(path)).close();
      executeInFile(dirname(path), "pragma wal_checkpoint(truncate)");
      const file = await openFile(path, "r+");
      // The schema, behind the header.
      await file.write(Buffer.alloc(3000, 0xa5), 0, 3000, 100);
      await file.close();
    });
    expect(message).toMatch(/malformed.*The file is damaged: restore it from a backup/);
  });

  test("a folder in its place", async () => {
    expect(await errorAfter((path) => mkdir(path))).toMatch(/EISDIR.*It is a folder: remove it/);
  });

  test.skipIf(process.getuid?.() === 0)("a file that may not be read", async () => {
    const message = await errorAfter(async (path) => {
      await writeFile(path, "");
      await chmod(path, 0o200);
    });
    expect(message).toMatch(/EACCES.*Allow this user to read and write it/);
  });

  test("a file in place of the folder", async () => {
    const dataDir = join(folder, `spoilt-${++folders}`);
    await writeFile(dataDir, "");
    await expect(openStore({ databaseUrl: undefined, dataDir })).rejects.toThrow(
      /A part of the path is a file: set VISAGE_DATA_DIR to a folder/,
    );
  });
});

describe("a full disk", () => {
  const ann = userOf("ann", { plan: "unlimited" });
  const counts = (from: number) =>
    Array.from({ length: 2_000 }, (_, i) => ({ ...usageOf(ann, 1), outcome: `outcome ${from + i}` }));

  /** Writes through a gate until there is no room, then makes room. */
  async function exhaust(store: AccountStore, makeRoom: () => void): Promise<void> {
    await store.addUser(ann);
    const troubles: unknown[] = [];
    let from = 0;
    const gate = createGate({
      store: {
        findAccount: store.findAccount,
        addUsage: (id, batch) => {
          from += 2_000;
          return store.addUsage(id, [...batch, ...counts(from)]);
        },
      },
      graceMs: 1_000,
      onTrouble: (error) => troubles.push(error),
    });
    onTestFinished(() => gate.close());
    const serve = async () => {
      const admission = await gate.admit({ userId: "id-of-ann", address: "203.0.113.5" });
      if (admission.admitted) admission.caller.finish("get_face_vec", "ok");
      return admission.admitted;
    };
    expect(await serve()).toBe(true);
    expect(gate.hasAccounts).toBe(true);
    await vi.waitFor(
      async () => {
        await serve();
        expect(gate.hasAccounts).toBe(false);
      },
      { timeout: 20_000, interval: 20 },
    );
    expect(String(troubles[0])).toContain("database or disk is full");
    // Users are still served, and their requests are counted later.
    expect(await serve()).toBe(true);
    makeRoom();
    await vi.waitFor(() => expect(gate.hasAccounts).toBe(true), { timeout: 5_000, interval: 50 });
    expect(troubles).toHaveLength(1);
    await store.removeUser(ann.idHash);
    expect(await store.listUsage()).toEqual([]);
  }

  test("is reported as such, by the error and by the gate, until there is room again", async () => {
    const file = new Database(join(folder, `full-${++folders}.db`));
    file.exec("pragma journal_mode = wal");
    const database = new SqliteDatabase(file);
    await database.transact(migrate());
    file.exec("pragma max_page_count = 200");
    const store = createSqlStore(database);
    onTestFinished(() => store.close());
    await exhaust(store, () => file.exec("pragma max_page_count = 100000"));
  }, 40_000);

  test.skipIf(!canMount)(
    "of a real file system does not end the service of accounts",
    async () => {
      const disk = join(folder, `disk-${++folders}`);
      await mkdir(disk);
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "visage-test", disk]);
      onTestFinished(() => void execFileSync("umount", ["--lazy", disk]));
      const ballast = join(disk, "ballast");
      await writeFile(ballast, Buffer.alloc(2 * 1024 * 1024));
      const store = await openStore({ databaseUrl: undefined, dataDir: join(disk, "data") });
      onTestFinished(() => store.close());
      await exhaust(store, () => rmSync(ballast));
    },
    40_000,
  );
});
