import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStore } from "../../src/accounts/open-store.ts";
import { execute, hasPostgres, startPostgres, type TestPostgres } from "../support/postgres.ts";
import { describeStoreContract, MONTH, openAt, usageOf, userOf } from "../support/store-contract.ts";

let postgres: TestPostgres;

beforeAll(async () => {
  if (hasPostgres) postgres = await startPostgres();
});
afterAll(() => postgres?.remove());

/** Keeps everyone from the users until the connection ends. */
async function lockUsers(databaseUrl: string): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl });
  client.on("error", () => {});
  await client.connect();
  await client.query("begin; lock table users in access exclusive mode");
  return client;
}

describe.skipIf(!hasPostgres)("with a PostgreSQL", () => {
  describeStoreContract("PostgreSQL", {
    createPlace: async () => ({ databaseUrl: await postgres.createDatabase(), dataDir: "/nowhere" }),
    executeAt: ({ databaseUrl }, sql) => execute(databaseUrl!, sql),
  });
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
