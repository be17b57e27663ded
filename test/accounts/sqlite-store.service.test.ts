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
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import Database from "libsql";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { createAuthenticator } from "../../src/accounts/authenticator.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { createSqlStore } from "../../src/accounts/sql-store.ts";
import { migrate } from "../../src/database/migrations.ts";
import { openSqliteDatabase, SqliteDatabase } from "../../src/database/sqlite-database.ts";
import { describeAdministrationContract } from "../support/administration-contract.ts";
import { canMount, fillDisk, mountDisk } from "../support/disk.ts";
import { describeKeyContract } from "../support/key-contract.ts";
import {
  addUser,
  createUsage,
  createUser,
  describeStoreContract,
  openAt,
  type StoreKind,
  spawnModule,
} from "../support/store-contract.ts";
import { longestTurn } from "../support/turns.ts";

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

const kind: StoreKind = {
  createLocation: async () => ({ databaseUrl: undefined, dataDir: join(folder, `${++folders}`, "data") }),
  executeAt: async ({ dataDir }, sql) => executeInFile(dataDir, sql),
};
describeStoreContract("SQLite", kind);
describeKeyContract("SQLite", kind);
describeAdministrationContract("SQLite", kind);

describe("the account store in an SQLite file", () => {
  test("creates its folder, and files that only the owner can read", async () => {
    const dataDir = join(folder, "a/b");
    const store = await openAt({ databaseUrl: undefined, dataDir });
    await addUser(store, createUser("ann"));
    for (const name of ["accounts.db", "accounts.db-wal", "accounts.db-shm"])
      expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600);
  });

  test("acknowledges a change only after it is on disk, and serves reads meanwhile", async () => {
    const dataDir = join(folder, "synced");
    const store = await openAt({ databaseUrl: undefined, dataDir });
    const handle = await openFile(join(dataDir, "accounts.db-wal"));
    onTestFinished(() => handle.close());
    const sync = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, "datasync");
    onTestFinished(() => sync.mockRestore());
    let reachDisk = () => {};
    const synced = new Promise<void>((resolve) => (reachDisk = resolve));
    let startSync = () => {};
    const syncStarted = new Promise<void>((resolve) => (startSync = resolve));
    sync.mockImplementation(() => {
      startSync();
      return synced;
    });

    const sizeBefore = (await handle.stat()).size;
    let isAcknowledged = false;
    const adding = addUser(store, createUser("ann")).then(() => (isAcknowledged = true));
    await syncStarted;
    expect(await store.listUsers()).toHaveLength(1);
    expect((await handle.stat()).size).toBeGreaterThan(sizeBefore);
    await yieldToEventLoop();
    expect(isAcknowledged).toBe(false);
    reachDisk();
    await adding;
  });

  test("is consistent after its process is killed during a write", async () => {
    const location = { databaseUrl: undefined, dataDir: join(folder, "killed") };
    await addUser(await openAt(location), createUser("ann"));
    const code = `const store = await openAccountStore(location);
      for (let i = 0; ; i++) {
        await store.addUsage(String(i), Array.from({ length: 500 }, (_, j) => ({ ...usage, outcome: "o" + i + j })));
        if (i === 3) writeSync(1, ".");
      }`;
    const child = spawnModule(code, { location, usage: createUsage(createUser("ann"), 1) });
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "close");
    expect(executeInFile(location.dataDir, "pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
    const counts = await (await openAt(location)).listUsage();
    expect(counts.length % 500).toBe(0);
    expect(counts.length).toBeGreaterThanOrEqual(2_000);
  });
});

describe("the error for an account file that cannot be opened names the file and the remedy", () => {
  /** Returns the error message of opening a file that `spoil` has created. */
  async function errorAfter(spoil: (path: string) => Promise<unknown>): Promise<string> {
    const dataDir = join(folder, `spoilt-${++folders}`);
    await mkdir(dataDir);
    const path = join(dataDir, "accounts.db");
    await spoil(path);
    const error = await openAccountStore({ databaseUrl: undefined, dataDir }).then(
      () => new Error("opened"),
      (cause: Error) => cause,
    );
    expect(error.message).toContain(`The account file ${path} cannot be opened`);
    return error.message;
  }

  test.each([
    ["with other content", Buffer.alloc(5000, "no database")],
    ["with only a valid header", Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(4080, 7)])],
  ])("a file %s", async (_, bytes) => {
    expect(await errorAfter((path) => writeFile(path, bytes))).toMatch(
      /\(file is not a database\): the file is damaged; restore it from a backup, or move it away/,
    );
  });

  test("a file with damaged pages", async () => {
    const message = await errorAfter(async (path) => {
      await (await openSqliteDatabase(path)).close();
      executeInFile(dirname(path), "pragma wal_checkpoint(truncate)");
      const file = await openFile(path, "r+");
      // Overwrite the schema, which follows the header.
      await file.write(Buffer.alloc(3000, 0xa5), 0, 3000, 100);
      await file.close();
    });
    expect(message).toMatch(/malformed.*: the file is damaged; restore it from a backup/);
  });

  test("a folder instead of the file", async () => {
    expect(await errorAfter((path) => mkdir(path))).toMatch(/EISDIR.*it is a folder; remove it/);
  });

  test.skipIf(!canMount)("a full disk", async () => {
    const dataDir = join(folder, `full-${++folders}`);
    await mkdir(dataDir);
    mountDisk(dataDir, "2m");
    await (await openAccountStore({ databaseUrl: undefined, dataDir })).close();
    for (const part of ["wal", "shm"]) rmSync(join(dataDir, `accounts.db-${part}`), { force: true });
    fillDisk(dataDir);
    await expect(openAccountStore({ databaseUrl: undefined, dataDir })).rejects.toThrow(
      /disk I\/O error\): the disk may be full or damaged; check it$/,
    );
  });

  test.skipIf(process.getuid?.() === 0)("a file without read permission", async () => {
    const message = await errorAfter(async (path) => {
      await writeFile(path, "");
      await chmod(path, 0o200);
    });
    expect(message).toMatch(/EACCES.*allow this user to read and write it/);
  });

  test("a file instead of the data folder", async () => {
    const dataDir = join(folder, `spoilt-${++folders}`);
    await writeFile(dataDir, "");
    await expect(openAccountStore({ databaseUrl: undefined, dataDir })).rejects.toThrow(
      /a part of the path is a file; set VISAGE_DATA_DIR to a folder/,
    );
  });
});

describe("a full disk", () => {
  const ann = createUser("ann", { plan: "unlimited" });
  const counts = (from: number) =>
    Array.from({ length: 2_000 }, (_, i) => ({ ...createUsage(ann, 1), outcome: `outcome ${from + i}` }));

  /** Writes usage until the disk is full, then frees space. */
  async function exhaust(store: AccountStore, freeSpace: () => void): Promise<void> {
    await addUser(store, ann);
    const storeErrors: unknown[] = [];
    let from = 0;
    const authenticator = createAuthenticator({
      store: {
        findAccount: store.findAccount,
        addUsage: (id, batch) => {
          from += 2_000;
          return store.addUsage(id, [...batch, ...counts(from)]);
        },
      },
      graceMs: 1_000,
      onStoreError: (error) => storeErrors.push(error),
    });
    onTestFinished(() => authenticator.close());
    const serve = async () => {
      const admission = await authenticator.admit({ keys: ["key-of-ann"], address: "203.0.113.5" });
      if (admission.admitted) admission.caller.finish("get_face_vec", "ok");
      return admission.admitted;
    };
    expect(await serve()).toBe(true);
    expect(authenticator.accountsAvailable).toBe(true);
    await vi.waitFor(
      async () => {
        await serve();
        expect(authenticator.accountsAvailable).toBe(false);
      },
      { timeout: 20_000, interval: 20 },
    );
    expect(String(storeErrors[0])).toContain("database or disk is full");
    // Users are still admitted; their requests are counted later.
    expect(await serve()).toBe(true);
    freeSpace();
    await vi.waitFor(() => expect(authenticator.accountsAvailable).toBe(true), {
      timeout: 20_000,
      interval: 50,
    });
    expect(storeErrors).toHaveLength(1);
    await store.removeUser(ann.id);
    expect(await store.listUsage()).toEqual([]);
  }

  test("is reported by the error and the availability until space is freed", async () => {
    const file = new Database(join(folder, `full-${++folders}.db`));
    file.exec("pragma journal_mode = wal");
    const database = new SqliteDatabase(file);
    await database.runTransaction(migrate());
    file.exec("pragma max_page_count = 200");
    const store = createSqlStore(database);
    onTestFinished(() => store.close());
    await exhaust(store, () => file.exec("pragma max_page_count = 100000"));
  });

  test.skipIf(!canMount)(
    "of a real file system does not stop admission",
    async () => {
      const disk = join(folder, `disk-${++folders}`);
      await mkdir(disk);
      mountDisk(disk, "6m");
      const ballast = join(disk, "ballast");
      await writeFile(ballast, Buffer.alloc(4 * 1024 * 1024));
      const store = await openAccountStore({ databaseUrl: undefined, dataDir: join(disk, "data") });
      onTestFinished(() => store.close());
      await exhaust(store, () => rmSync(ballast));
    },
    40_000,
  );
});

test("usage of many users is summed in many turns of the event loop, and that of one user reads nothing of others", async () => {
  const dataDir = join(folder, `${++folders}`);
  const store = await openAccountStore({ databaseUrl: undefined, dataDir });
  onTestFinished(() => store.close());
  const users = Array.from({ length: 200 }, (_, i) => createUser(`user ${i}`));
  for (const user of users) await addUser(store, user);
  const months = Array.from({ length: 12 }, (_, i) => `2026-${String(i + 1).padStart(2, "0")}`);
  const operations = Array.from({ length: 30 }, (_, i) => `operation ${i}`);
  for (const { id: userId } of users)
    await store.addUsage(
      userId,
      months.flatMap((month) =>
        operations.map((operation) => ({
          userId,
          day: `${month}-15`,
          key: "k",
          operation,
          outcome: "ok",
          count: 1,
        })),
      ),
    );
  const range = { firstMonth: months[0]!, lastMonth: months.at(-1)! };
  const all = await longestTurn(() => store.sumUsage(range));
  const sums = (count: number) =>
    months.flatMap((month) => operations.map((operation) => ({ month, operation, outcome: "ok", count })));
  const byName = (a: { month: string; operation: string }, b: { month: string; operation: string }) =>
    a.month.localeCompare(b.month) || a.operation.localeCompare(b.operation);
  expect(all.result).toEqual(sums(users.length).sort(byName));
  expect(all.longestMs).toBeLessThan(all.totalMs / 2);
  const one = await longestTurn(() => store.sumUsage({ userId: users[7]!.id, ...range }));
  expect(one.result).toEqual(sums(1).sort(byName));
  expect(one.totalMs).toBeLessThan(all.totalMs / 5);
});

test("many users are searched in many turns of the event loop", async () => {
  const dataDir = join(folder, `${++folders}`);
  const store = await openAccountStore({ databaseUrl: undefined, dataDir });
  onTestFinished(() => store.close());
  executeInFile(
    dataDir,
    `with recursive numbers (n) as (select 100000 union all select n + 1 from numbers where n < 159999)
      insert into users (id, name, plan, starts_at, enabled)
      select 'id ' || n, 'user ' || n, 'trial', '2026-01-01T00:00:00Z', 1 from numbers returning 1`,
  );
  const search = (query: string, after = "") =>
    longestTurn(() => store.searchUsers({ query, after, size: 3, month: "2026-01" }));
  const namesOf = ({ result }: Awaited<ReturnType<typeof search>>) =>
    result.users.map(({ user }) => user.name);
  const found = await search("9999");
  expect(namesOf(found)).toEqual(["user 109999", "user 119999", "user 129999"]);
  expect(found.result.total).toBe(6);
  expect(found.longestMs).toBeLessThan(found.totalMs / 2);
  expect(namesOf(await search("9999", "user 129999"))).toEqual(["user 139999", "user 149999", "user 159999"]);
  expect((await search("nobody")).result).toEqual({ users: [], total: 0 });
});
