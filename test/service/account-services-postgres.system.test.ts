import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AccountService } from "../../gen/ts/visage/v1/account_pb.ts";
import { AdminService } from "../../gen/ts/visage/v1/admin_pb.ts";
import { fingerprintOf, hashKey } from "../../src/accounts/key.ts";
import type { RunningService } from "../../src/main.ts";
import { hasPostgres, startPostgres, type TestPostgres } from "../support/postgres.ts";
import { ADMIN_KEY, requestFaceVector, startTestService } from "../support/service.ts";
import { createRestClient, type UnaryClient } from "../support/unary-clients.ts";

const { getAccount, getUsage, createKey, deleteKey } = AccountService.method;
const { method } = AdminService;
const LATER = { timeout: 20_000, interval: 300 };

describe.skipIf(!hasPostgres)("the account services of two replicas on one PostgreSQL", () => {
  let postgres: TestPostgres;
  let replicas: readonly RunningService[];
  beforeAll(async () => {
    postgres = await startPostgres();
    const env = { VISAGE_DATABASE_URL: postgres.url, VISAGE_ADMIN_KEY: ADMIN_KEY };
    replicas = await Promise.all([startTestService(env), startTestService(env)]);
  });
  afterAll(async () => {
    for (const replica of replicas ?? []) await replica.close();
    await postgres?.remove();
  });
  const clientsOf = (key: string): UnaryClient[] =>
    replicas.map(({ port }) => createRestClient(port, { authorization: `Bearer ${key}` }));

  test("agree on users, plans, keys and usage", async () => {
    const [one, other] = clientsOf(ADMIN_KEY) as [UnaryClient, UnaryClient];
    await one.call(method.createPlan, { name: "shared", limits: { requestsPerMonth: 10n } });
    const { key, user } = await other.call(method.createUser, { name: "ann", plan: "shared" });
    expect(await requestFaceVector(replicas[0]!, key)).toBe(200);
    const [asAnn, asAnnThere] = clientsOf(key) as [UnaryClient, UnaryClient];
    await expect
      .poll(async () => (await asAnnThere.call(getUsage, {})).counts.map(({ count }) => count), LATER)
      .toEqual([1n]);
    expect((await asAnn.call(getAccount, {})).quota).toMatchObject({ used: 1n, remaining: 9n });
    const { users } = await one.call(method.listUsers, { query: "an" });
    expect(users).toMatchObject([{ userId: user!.userId, usedThisMonth: 1n }]);
    await expect(other.call(method.deletePlan, { name: "shared" })).rejects.toThrow("PLAN_IN_USE");

    const { key: second } = await asAnn.call(createKey, {});
    const [, asSecondThere] = clientsOf(second) as [UnaryClient, UnaryClient];
    await asSecondThere.call(deleteKey, { fingerprint: fingerprintOf(hashKey(key)) });
    // The first replica may still have the old key in its cache, but changes nothing on its behalf.
    await expect(asAnn.call(createKey, {})).rejects.toThrow("UNKNOWN_USER");
    await expect.poll(() => requestFaceVector(replicas[0]!, key), LATER).toBe(401);
  });

  test("count each renewal when renewals race on both", async () => {
    const clients = clientsOf(ADMIN_KEY);
    const user = "renewed";
    const endTime = timestampFromMs(Date.UTC(2100, 0, 1));
    await clients[0]!.call(method.createUser, { name: user, endTime });
    await Promise.all(
      Array.from({ length: 10 }, (_, i) => clients[i % 2]!.call(method.updateUser, { user, extendDays: 1 })),
    );
    const found = await clients[0]!.call(method.getUser, { user });
    expect(found.user!.subscription!.endTime).toEqual(timestampFromMs(Date.UTC(2100, 0, 11)));
  });

  test("leave twenty keys when they are created on both", async () => {
    const [one] = clientsOf(ADMIN_KEY) as [UnaryClient];
    const { key } = await one.call(method.createUser, { name: "racer" });
    const clients = clientsOf(key);
    const calls = Array.from({ length: 24 }, (_, i) => clients[i % 2]!.call(createKey, {}));
    const results = await Promise.allSettled(calls);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(19);
    for (const result of results)
      if (result.status === "rejected") expect(result.reason.message).toBe("TOO_MANY_KEYS");
    expect((await one.call(method.getUser, { user: "racer" })).keys).toHaveLength(20);
  });

  test("say that accounts are unavailable while the database is away, and recover", async () => {
    const [admin] = clientsOf(ADMIN_KEY) as [UnaryClient];
    const { key } = await admin.call(method.createUser, { name: "patient" });
    const [client] = clientsOf(key) as [UnaryClient];
    await client.call(getAccount, {});
    await postgres.stop();
    for (const attempt of [
      () => client.call(getAccount, {}),
      () => client.call(getUsage, {}),
      () => client.call(createKey, {}),
      () => admin.call(method.listUsers, {}),
      () => admin.call(method.createUser, { name: "nobody" }),
      () => admin.call(method.deletePlan, { name: "trial" }),
    ])
      await expect(attempt(), String(attempt)).rejects.toThrow("ACCOUNTS_UNAVAILABLE");
    // The admin key is checked without the database.
    const wrong = createRestClient(replicas[0]!.port, { authorization: "Bearer wrong" });
    await expect(wrong.call(method.listUsers, {})).rejects.toThrow("NO_ADMIN_KEY");
    await postgres.start();
    await expect
      .poll(() => client.call(getAccount, {}).then(({ keys }) => keys.length, String), LATER)
      .toBe(1);
    expect((await admin.call(method.listUsers, { query: "nobody" })).users).toEqual([]);
  });
});
