import { execFileSync, spawn, spawnSync } from "node:child_process";
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
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "libsql";
import { Client } from "pg";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from "vitest";
import {
  AccountError,
  type AccountStore,
  type UsageCount,
  type User,
} from "../../src/accounts/account-store.ts";
import { createGate } from "../../src/accounts/gate.ts";
import { migrate } from "../../src/accounts/migrations.ts";
import { openStore, type StorePlace } from "../../src/accounts/open-store.ts";
import { createSqlStore } from "../../src/accounts/sql-store.ts";
import { openSqliteStore, SqliteDatabase } from "../../src/accounts/sqlite-store.ts";
import { fingerprintOf, hashOf } from "../../src/accounts/user-id.ts";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";
import { execute, hasPostgres, startPostgres, type TestPostgres } from "../support/postgres.ts";

const MONTH = "2026-03";

/** Whether this test may mount a file system of its own. */
const canMount =
  process.getuid?.() === 0 && spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "t", "/mnt"]).status === 0;

let folder: string;
let folders = 0;
let postgres: TestPostgres;
const open: AccountStore[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "visage-store-"));
  if (hasPostgres) postgres = await startPostgres();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await postgres?.remove();
});
afterEach(async () => {
  for (const store of open.splice(0)) await store.close();
});

const KINDS = [
  {
    kind: "SQLite",
    isMissing: false,
    createPlace: async (): Promise<StorePlace> => ({
      databaseUrl: undefined,
      dataDir: join(folder, `${++folders}`, "data"),
    }),
    executeAt: async ({ dataDir }: StorePlace, sql: string) => executeInFile(dataDir, sql),
  },
  {
    kind: "PostgreSQL",
    isMissing: !hasPostgres,
    createPlace: async (): Promise<StorePlace> => ({
      databaseUrl: await postgres.createDatabase(),
      dataDir: "/nowhere",
    }),
    executeAt: ({ databaseUrl }: StorePlace, sql: string) => execute(databaseUrl!, sql),
  },
];

function executeInFile(dataDir: string, sql: string): Record<string, unknown>[] {
  const file = new Database(join(dataDir, "accounts.db"));
  const rows = file.prepare(sql).all([]) as Record<string, unknown>[];
  file.close();
  return rows;
}

async function openAt(place: StorePlace): Promise<AccountStore> {
  const store = await openStore(place);
  open.push(store);
  return store;
}

function userOf(name: string, changes: Partial<User> = {}): User {
  const idHash = hashOf(`id-of-${name}`);
  return {
    idHash,
    fingerprint: fingerprintOf(idHash),
    name,
    plan: "basic",
    startsAt: new Date("2026-01-02T03:04:05.678Z"),
    endsAt: undefined,
    enabled: true,
    ...changes,
  };
}

function usageOf({ idHash }: User, count: number, changes: Partial<UsageCount> = {}): UsageCount {
  return { idHash, month: MONTH, operation: "match_faces", outcome: "ok", count, ...changes };
}

/** Keeps everyone from the users until the connection ends. */
async function lockUsers(databaseUrl: string): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl });
  client.on("error", () => {});
  await client.connect();
  await client.query("begin; lock table users in access exclusive mode");
  return client;
}

/** Runs a module with the compiled `openStore` and the given values at hand, in a process of its own. */
function spawnModule(code: string, values: Record<string, unknown>) {
  const module = JSON.stringify(join(PACKAGE_ROOT, "dist/src/accounts/open-store.js"));
  const names = Object.keys(values).join(", ");
  const text = `import { writeSync } from "node:fs";
    const { openStore } = await import(${module});
    const { ${names} } = ${JSON.stringify(values)};
    ${code}`;
  const args = ["--input-type=module", "--eval", text];
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
}

for (const { kind, isMissing, createPlace, executeAt } of KINDS)
  describe.skipIf(isMissing)(`the account store on ${kind}`, () => {
    let place: StorePlace;
    let store: AccountStore;
    const ann = userOf("ann");
    const bob = userOf("bob", { plan: "pro", endsAt: new Date("2027-01-01T00:00:00Z"), enabled: false });

    beforeEach(async () => {
      place = await createPlace();
      store = await openAt(place);
    });

    test("has four plans at first", async () => {
      const rest = { maxImageBytes: undefined };
      expect(await store.listPlans()).toEqual([
        { name: "basic", requestsPerSecond: 10, burst: 20, requestsPerMonth: 50_000, ...rest },
        { name: "pro", requestsPerSecond: 50, burst: 100, requestsPerMonth: 1_000_000, ...rest },
        { name: "trial", requestsPerSecond: 2, burst: 10, requestsPerMonth: 1_000, ...rest },
        {
          name: "unlimited",
          requestsPerSecond: undefined,
          burst: 1,
          requestsPerMonth: undefined,
          ...rest,
        },
      ]);
    });

    test("adds and changes plans, and keeps the changes when it is opened again", async () => {
      const slow = {
        name: "slow",
        requestsPerSecond: 0.5,
        burst: 1,
        requestsPerMonth: undefined,
        maxImageBytes: 1_000_000,
      };
      const trial = {
        name: "trial",
        requestsPerSecond: undefined,
        burst: 3,
        requestsPerMonth: 2 ** 40,
        maxImageBytes: undefined,
      };
      await store.setPlan(slow);
      await store.setPlan(trial);
      const again = await openAt(place);
      const plans = await again.listPlans();
      expect(plans.map(({ name }) => name)).toEqual(["basic", "pro", "slow", "trial", "unlimited"]);
      expect(plans).toContainEqual(slow);
      expect(plans).toContainEqual(trial);
    });

    test("finds an account by its id with what it used in a month", async () => {
      await store.addUser(bob);
      await store.addUser(ann);
      expect(await store.findAccount(hashOf("id-of-ann"), MONTH)).toEqual({
        user: ann,
        plan: expect.objectContaining({ name: "basic", requestsPerSecond: 10, burst: 20 }),
        usedThisMonth: 0,
      });
      await store.addUsage("1", [
        usageOf(ann, 3),
        usageOf(ann, 4, { operation: "get_face_vec" }),
        usageOf(ann, 100, { outcome: "NO_FACE" }),
        usageOf(ann, 100, { month: "2026-02" }),
        usageOf(bob, 100),
      ]);
      expect(await store.findAccount(ann.idHash, MONTH)).toMatchObject({ user: ann, usedThisMonth: 7 });
      expect(await store.findAccount(bob.idHash, "2026-04")).toMatchObject({ user: bob, usedThisMonth: 0 });
      expect(await store.findAccount(hashOf("stranger"), MONTH)).toBeUndefined();
      expect(await store.findAccount("id-of-ann", MONTH)).toBeUndefined();
    });

    test("lists users by name, and finds them by hash, fingerprint or name", async () => {
      for (const user of [bob, ann]) await store.addUser(user);
      expect(await store.listUsers()).toEqual([ann, bob]);
      for (const text of [ann.idHash, ann.fingerprint, ann.name])
        expect(await store.findUsers(text)).toEqual([ann]);
      for (const text of ["", "an", "id-of-ann", ann.idHash.slice(0, 9), ann.idHash.slice(0, 11), "%"])
        expect(await store.findUsers(text)).toEqual([]);
      const shadow = userOf("shadow", { name: ann.fingerprint });
      await store.addUser(shadow);
      expect(await store.findUsers(ann.fingerprint)).toEqual([shadow, ann]);
    });

    test("refuses a user whose name, id or plan will not do", async () => {
      await store.addUser(ann);
      const wrong: [User, RegExp][] = [
        [userOf("other", { name: "ann" }), /user named "ann"/],
        [{ ...ann, name: "other" }, /id is taken/],
        [userOf("other", { plan: "none" }), /no plan named "none"/],
      ];
      for (const [user, message] of wrong) {
        const adding = store.addUser(user);
        await expect(adding).rejects.toThrow(AccountError);
        await expect(adding).rejects.toThrow(message);
      }
      expect(await store.listUsers()).toEqual([ann]);
    });

    test("lets one of several win who add the same name at the same time", async () => {
      const others = await Promise.all([1, 2, 3, 4].map(() => openAt(place)));
      const results = await Promise.allSettled(
        others.map((other, i) => other.addUser(userOf(`${i}`, { name: "same" }))),
      );
      const refused = results.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
      expect(refused).toHaveLength(3);
      for (const { reason } of refused) expect(reason).toBeInstanceOf(AccountError);
    });

    test("changes what is given of a user and leaves the rest", async () => {
      await store.addUser(ann);
      const endsAt = new Date("2026-12-31T23:59:59.999Z");
      const startsAt = new Date("2025-01-01T00:00:00Z");
      expect(await store.changeUser(ann.idHash, { endsAt })).toEqual({ ...ann, endsAt });
      expect(await store.changeUser(ann.idHash, { enabled: false })).toEqual({
        ...ann,
        endsAt,
        enabled: false,
      });
      expect(await store.changeUser(ann.idHash, { endsAt: undefined })).toEqual({ ...ann, enabled: false });
      const changed = { ...ann, startsAt, plan: "pro", enabled: true };
      expect(await store.changeUser(ann.idHash, { startsAt, plan: "pro", enabled: true })).toEqual(changed);
      expect(await store.changeUser(ann.idHash, {})).toEqual(changed);
      expect(await store.listUsers()).toEqual([changed]);
    });

    test("refuses to change a user, or to a plan, that does not exist", async () => {
      await store.addUser(ann);
      await expect(store.changeUser(ann.idHash, { plan: "none" })).rejects.toThrow(AccountError);
      await expect(store.changeUser(bob.idHash, { enabled: true })).rejects.toThrow(AccountError);
      expect(await store.listUsers()).toEqual([ann]);
    });

    test("removes a user with its usage, and nothing of others", async () => {
      for (const user of [ann, bob]) await store.addUser(user);
      await store.addUsage("1", [usageOf(ann, 1), usageOf(bob, 2)]);
      await store.removeUser(ann.idHash);
      expect(await store.listUsers()).toEqual([bob]);
      expect(await store.listUsage()).toEqual([usageOf(bob, 2)]);
      await store.removeUser(ann.idHash);
      // One who comes back starts afresh.
      await store.addUser(ann);
      expect(await store.findAccount(ann.idHash, MONTH)).toMatchObject({ usedThisMonth: 0 });
    });

    test("adds up usage and lists it by user and month", async () => {
      for (const user of [ann, bob]) await store.addUser(user);
      const failed = { outcome: "NO_FACE" };
      const april = { month: "2026-04" };
      await store.addUsage("1", [usageOf(ann, 1), usageOf(ann, 2, failed), usageOf(bob, 3)]);
      await store.addUsage("2", [usageOf(ann, 10), usageOf(ann, 20, april), usageOf(ann, 5)]);
      await store.addUsage("3", []);
      const ofAnn = [usageOf(ann, 2, failed), usageOf(ann, 16), usageOf(ann, 20, april)];
      expect(await store.listUsage({ idHash: ann.idHash })).toEqual(ofAnn);
      expect(await store.listUsage({ month: "2026-04" })).toEqual([usageOf(ann, 20, april)]);
      expect(await store.listUsage({ idHash: bob.idHash, month: MONTH })).toEqual([usageOf(bob, 3)]);
      expect(await store.listUsage({ idHash: bob.idHash, month: "2026-04" })).toEqual([]);
      expect(await store.listUsage()).toHaveLength(4);
    });

    test("adds a batch once, also when it comes twice at the same time", async () => {
      await store.addUser(ann);
      const other = await openAt(place);
      await store.addUsage("1", [usageOf(ann, 1)]);
      await other.addUsage("1", [usageOf(ann, 1)]);
      await Promise.all(
        [1, 2, 3, 4].flatMap(() => [store, other].map((s) => s.addUsage("2", [usageOf(ann, 10)]))),
      );
      expect(await store.listUsage()).toEqual([usageOf(ann, 11)]);
    });

    test("forgets the ids of batches after a day", async () => {
      await store.addUser(ann);
      const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
      for (const id of ["1", "2", "3"]) await store.addUsage(id, [usageOf(ann, 1)]);
      await executeAt(place, `update usage_batches set added_at = '${hoursAgo(25)}' where id = '1'`);
      await executeAt(place, `update usage_batches set added_at = '${hoursAgo(23)}' where id = '2'`);
      await store.addUsage("4", [usageOf(ann, 1)]);
      const ids = await executeAt(place, "select id from usage_batches order by id");
      expect(ids.map(({ id }) => id)).toEqual(["2", "3", "4"]);
    });

    test("passes over usage of users who are gone, and keeps the rest of the batch", async () => {
      await store.addUser(ann);
      await store.addUsage("1", [usageOf(bob, 1), usageOf(ann, 2)]);
      expect(await store.listUsage()).toEqual([usageOf(ann, 2)]);
    });

    test("takes a batch of all or none", async () => {
      await store.addUser(ann);
      const bad = {
        ...usageOf(ann, 1),
        count: "many" as unknown as number,
        month: null as unknown as string,
      };
      await expect(store.addUsage("1", [usageOf(ann, 1), bad])).rejects.not.toThrow(AccountError);
      expect(await store.listUsage()).toEqual([]);
      await store.addUsage("1", [usageOf(ann, 1)]);
      expect(await store.listUsage()).toEqual([usageOf(ann, 1)]);
    });

    test("takes a batch of ten thousand counts", async () => {
      await store.addUser(ann);
      const counts = Array.from({ length: 10_000 }, (_, i) => usageOf(ann, i, { outcome: `o${i}` }));
      await store.addUsage("1", counts);
      const listed = await store.listUsage();
      expect(listed).toHaveLength(10_000);
      expect(listed).toContainEqual(usageOf(ann, 9_999, { outcome: "o9999" }));
    });

    test("loses nothing of what many add side by side", async () => {
      for (const user of [ann, bob]) await store.addUser(user);
      const other = await openAt(place);
      const counts = [usageOf(ann, 1), usageOf(bob, 2), usageOf(ann, 3, { operation: "get_face_vec" })];
      await Promise.all(
        Array.from({ length: 50 }, async (_, i) => {
          // Each in an order of its own: databases that lock rows as they come would wait in a circle.
          await store.addUsage(`a${i}`, i % 2 ? counts : counts.toReversed());
          await other.addUsage(`b${i}`, i % 2 ? counts.toReversed() : counts);
        }),
      );
      expect(await store.findAccount(ann.idHash, MONTH)).toMatchObject({ usedThisMonth: 400 });
      expect(await store.findAccount(bob.idHash, MONTH)).toMatchObject({ usedThisMonth: 200 });
    });

    test("can be opened and filled by several processes at once on an empty database", async () => {
      const fresh = await createPlace();
      const code = `while (Date.now() < at);
        const store = await openStore(place);
        for (const user of users) await store.addUser({ ...user, startsAt: new Date() });
        await store.close();
        writeSync(1, "done");`;
      const at = Date.now() + 500;
      const outputs = await Promise.all(
        Array.from({ length: 5 }, (_, process) => {
          const users = Array.from({ length: 30 }, (_, i) => userOf(`${process}-${i}`));
          return spawnModule(code, { place: fresh, at, users }).stdout.toArray();
        }),
      );
      expect(outputs.map((chunks) => chunks.join(""))).toEqual(Array(5).fill("done"));
      const filled = await openAt(fresh);
      expect(await filled.listPlans()).toHaveLength(4);
      expect(await filled.listUsers()).toHaveLength(150);
    });

    test("keeps what it has acknowledged when its process is killed", async () => {
      await store.addUser(ann);
      let acknowledged = 0;
      for (const round of [1, 2, 3]) {
        const code = `const store = await openStore(place);
          for (let i = 0; ; i++) {
            await store.addUsage(round + "-" + i, [usage]);
            writeSync(1, ".");
          }`;
        const child = spawnModule(code, { place, usage: usageOf(ann, 1), round });
        child.stdout.on("data", (chunk: Buffer) => {
          acknowledged += chunk.length;
        });
        await once(child.stdout, "data");
        await sleep(300);
        child.kill("SIGKILL");
        await once(child, "close");
        const { usedThisMonth } = (await store.findAccount(ann.idHash, MONTH))!;
        expect(usedThisMonth).toBeGreaterThanOrEqual(acknowledged);
        expect(usedThisMonth).toBeLessThanOrEqual(acknowledged + round);
      }
      expect(acknowledged).toBeGreaterThan(20);
    });

    test("refuses a database of a newer version", async () => {
      await executeAt(place, "update schema_version set version = 99");
      const opening = openStore(place);
      await expect(opening).rejects.toThrow(AccountError);
      await expect(opening).rejects.toThrow("kept in version 99 and this programme knows versions up to 1");
    });
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
    open.push(store);
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
      open.push(store);
      await exhaust(store, () => rmSync(ballast));
    },
    40_000,
  );
});

describe.skipIf(!hasPostgres)("the account store on a server", () => {
  const ann = userOf("ann");
  const bob = userOf("bob");

  test("waits for one who removes a user, and then passes over its usage", async () => {
    const place = { databaseUrl: await postgres.createDatabase(), dataDir: "" };
    const store = await openAt(place);
    for (const user of [ann, bob]) await store.addUser(user);
    const remover = new Client({ connectionString: place.databaseUrl });
    await remover.connect();
    await remover.query("begin");
    await remover.query("delete from users where name = 'ann'");
    const adding = store.addUsage("1", [usageOf(ann, 1), usageOf(bob, 2)]);
    await sleep(300);
    await remover.query("commit");
    await remover.end();
    await adding;
    expect(await store.listUsage()).toEqual([usageOf(bob, 2)]);
  });

  test("notices an outage within seconds, survives it, and goes on afterwards", async () => {
    const databaseUrl = await postgres.createDatabase();
    const store = await openAt({ databaseUrl, dataDir: "" });
    await store.addUser(ann);
    for (const end of [postgres.stop, postgres.kill9]) {
      await lockUsers(databaseUrl);
      const underWay = Array.from({ length: 8 }, () => store.findAccount(ann.idHash, MONTH));
      await Promise.all([Promise.allSettled(underWay), sleep(300).then(end)]);
      const from = Date.now();
      await expect(store.addUsage("1", [usageOf(ann, 1)])).rejects.toThrow(/ECONNREFUSED/);
      expect(Date.now() - from).toBeLessThan(5_000);
      await postgres.start();
      await store.addUsage("1", [usageOf(ann, 1)]);
      expect(await store.findAccount(ann.idHash, MONTH)).toMatchObject({ usedThisMonth: 1 });
    }
  });

  test("does not wait long for a server that says nothing, or an answer that does not come", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const databaseUrl = await postgres.createDatabase();
    const store = await openAt({ databaseUrl, dataDir: "" });
    const locker = await lockUsers(databaseUrl);
    const from = Date.now();
    await Promise.all([
      expect(openStore({ databaseUrl: `postgres://127.0.0.1:${port}/none`, dataDir: "" })).rejects.toThrow(),
      expect(store.listUsers()).rejects.toThrow(/timeout/),
    ]);
    expect(Date.now() - from).toBeLessThan(6_000);
    await locker.end();
    expect(await store.listUsers()).toEqual([]);
    silent.close();
  });

  test("says why it cannot be opened", async () => {
    const place = { databaseUrl: "postgres://visage:secret@localhost:1/none", dataDir: "" };
    await expect(openStore(place)).rejects.toThrow(/^connect ECONNREFUSED [0-9.:]+$/);
  });
});
