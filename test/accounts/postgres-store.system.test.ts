import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { describeAdministrationContract } from "../support/administration-contract.ts";
import { describeKeyContract } from "../support/key-contract.ts";
import { execute, hasPostgres, startPostgres, type TestPostgres } from "../support/postgres.ts";
import {
  addUser,
  createUsage,
  createUser,
  describeStoreContract,
  MONTH,
  openAt,
  type StoreKind,
} from "../support/store-contract.ts";

let postgres: TestPostgres;

beforeAll(async () => {
  if (hasPostgres) postgres = await startPostgres();
});
afterAll(() => postgres?.remove());

/** Locks the users table until the connection ends. */
async function lockUsers(databaseUrl: string): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl });
  client.on("error", () => {});
  await client.connect();
  await client.query("begin; lock table users in access exclusive mode");
  return client;
}

/** The advisory lock that a migration holds. */
const MIGRATION_LOCK = 8_647_424_301;

/** Connections of a PostgreSQL store. */
const MAX_CONNECTIONS = 4;

/** Waits until a number of queries wait for a lock. */
async function waitForBlockedQueries(databaseUrl: string, count: number): Promise<void> {
  const sql = "select count(*) as count from pg_locks where not granted";
  await vi.waitUntil(async () => Number((await execute(databaseUrl, sql))[0]!.count) >= count, 10_000);
}

describe.skipIf(!hasPostgres)("with a PostgreSQL", () => {
  const kind: StoreKind = {
    createLocation: async () => ({ databaseUrl: await postgres.createDatabase(), dataDir: "/nowhere" }),
    executeAt: ({ databaseUrl }, sql) => execute(databaseUrl!, sql),
  };
  describeStoreContract("PostgreSQL", kind);
  describeKeyContract("PostgreSQL", kind);
  describeAdministrationContract("PostgreSQL", kind);
});

describe.skipIf(!hasPostgres)("the account store in PostgreSQL", () => {
  const ann = createUser("ann");
  const bob = createUser("bob");

  test("waits for a concurrent removal of a user and then drops its usage", async () => {
    const location = { databaseUrl: await postgres.createDatabase(), dataDir: "" };
    const store = await openAt(location);
    for (const user of [ann, bob]) await addUser(store, user);
    const remover = new Client({ connectionString: location.databaseUrl });
    await remover.connect();
    await remover.query("begin");
    await remover.query("delete from users where name = 'ann'");
    const adding = store.addUsage("1", [createUsage(ann, 1), createUsage(bob, 2)]);
    await waitForBlockedQueries(location.databaseUrl, 1);
    await remover.query("commit");
    await remover.end();
    await adding;
    expect(await store.listUsage()).toEqual([createUsage(bob, 2)]);
  });

  test("fails during an outage and recovers afterwards", async () => {
    const databaseUrl = await postgres.createDatabase();
    const store = await openAt({ databaseUrl, dataDir: "" });
    await addUser(store, ann);
    for (const end of [postgres.stop, postgres.kill9]) {
      await lockUsers(databaseUrl);
      const pending = Array.from({ length: 8 }, () => store.findAccount({ userId: ann.id }, MONTH));
      const settled = Promise.allSettled(pending);
      await waitForBlockedQueries(databaseUrl, MAX_CONNECTIONS);
      await end();
      await settled;
      await expect(store.addUsage("1", [createUsage(ann, 1)])).rejects.toThrow(/ECONNREFUSED/);
      await postgres.start();
      await store.addUsage("1", [createUsage(ann, 1)]);
      expect(await store.findAccount({ userId: ann.id }, MONTH)).toMatchObject({ usedThisMonth: 1 });
    }
  });

  test("is not opened while its schema is locked, and blocks nobody for long", async () => {
    const location = { databaseUrl: await postgres.createDatabase(), dataDir: "" };
    await openAt(location);
    const locker = new Client({ connectionString: location.databaseUrl });
    await locker.connect();
    await locker.query("begin; lock table schema_version in access exclusive mode");
    await expect(openAccountStore(location)).rejects.toThrow(/lock timeout/);
    await locker.end();
    expect(await (await openAt(location)).listPlans()).toHaveLength(4);
  });

  test("is migrated by a replica that has to wait longer than a query may take", async () => {
    const databaseUrl = await postgres.createDatabase();
    const migrator = new Client({ connectionString: databaseUrl });
    await migrator.connect();
    await migrator.query(`begin; select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    const opening = openAt({ databaseUrl, dataDir: "" });
    await waitForBlockedQueries(databaseUrl, 1);
    await sleep(4_500);
    await migrator.query("commit");
    await migrator.end();
    expect(await (await opening).listPlans()).toHaveLength(4);
  });

  test("times out on a server that does not respond", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const databaseUrl = await postgres.createDatabase();
    const store = await openAt({ databaseUrl, dataDir: "" });
    const locker = await lockUsers(databaseUrl);
    await Promise.all([
      expect(
        openAccountStore({ databaseUrl: `postgres://127.0.0.1:${port}/none`, dataDir: "" }),
      ).rejects.toThrow(/timeout/),
      expect(store.listUsers()).rejects.toThrow(/timeout/),
    ]);
    await locker.end();
    expect(await store.listUsers()).toEqual([]);
    silent.close();
  });

  test("reports why it cannot connect", async () => {
    const location = { databaseUrl: "postgres://visage:secret@localhost:1/none", dataDir: "" };
    await expect(openAccountStore(location)).rejects.toThrow(
      /^The account database postgres:\/\/visage@localhost:1\/none cannot be opened \(connect ECONNREFUSED [0-9.:]+\)$/,
    );
  });
});
