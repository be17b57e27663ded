import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { AccountService, SubscriptionState } from "../../gen/ts/visage/v1/account_pb.ts";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { fingerprintOf, hashKey } from "../../src/accounts/key.ts";
import { currentMonth } from "../../src/accounts/month-clock.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import { addTestUser, newKey } from "../support/accounts.ts";
import { requestFaceVector, startTestService } from "../support/service.ts";
import { createRestClient, createUnaryClients } from "../support/unary-clients.ts";

const { getAccount, getUsage, createKey, deleteKey } = AccountService.method;
const DAY_MS = 86_400_000;

let dataDir: string;
let store: AccountStore;
let service: RunningService;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "visage-account-"));
  store = await openAccountStore({ databaseUrl: undefined, dataDir });
  service = await startTestService({ VISAGE_DATA_DIR: dataDir, VISAGE_TRUSTED_PROXIES: "127.0.0.1" });
});
afterAll(async () => {
  await service.close();
  await store.close();
  await rm(dataDir, { recursive: true });
});

let users = 0;
/** Adds a user and returns its key. */
async function addUser(...options: [limits?: object, changes?: object]): Promise<string> {
  const key = `account-user-${++users}`;
  await addTestUser(store, key, ...options);
  return key;
}
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const clientOf = (key: string) => createRestClient(service.port, bearer(key));
const fingerprint = (key: string) => fingerprintOf(hashKey(key));

describe("GetAccount", () => {
  test("returns plan, subscription, quota and keys over every protocol", async () => {
    const endsAt = new Date(Date.now() + 30 * DAY_MS);
    const key = await addUser({ requestsPerSecond: 2.5, burst: 7, requestsPerMonth: 100 }, { endsAt });
    for (const client of createUnaryClients(service.port, bearer(key))) {
      const account = await client.call(getAccount, {});
      expect(account, client.name).toMatchObject({
        name: key,
        plan: { name: key, limits: { requestsPerSecond: 2.5, burst: 7n, requestsPerMonth: 100n } },
        subscription: { state: SubscriptionState.ACTIVE },
        quota: { month: currentMonth(), used: 0n, remaining: 100n },
        keys: [{ fingerprint: fingerprint(key), current: true }],
      });
      expect(account.plan!.limits!.maxGalleries).toBeUndefined();
      expect(timestampDate(account.subscription!.endTime!)).toEqual(endsAt);
      expect(timestampDate(account.quota!.resetTime!).getUTCDate()).toBe(1);
    }
  });

  test("counts operations but neither itself nor its errors", async () => {
    const key = await addUser({ requestsPerMonth: 3 });
    expect(await requestFaceVector(service, key)).toBe(200);
    const response = await fetch(`http://127.0.0.1:${service.port}/v1/account`, { headers: bearer(key) });
    expect(response.headers.get("ratelimit-limit")).toBe("3");
    expect(response.headers.get("ratelimit-remaining")).toBe("2");
    const client = clientOf(key);
    await vi.waitFor(
      async () => {
        expect((await client.call(getAccount, {})).quota).toMatchObject({ used: 1n, remaining: 2n });
      },
      { timeout: 10_000, interval: 300 },
    );
    const { counts } = await client.call(getUsage, {});
    expect(counts).toMatchObject([
      { month: currentMonth(), operation: "get_face_vec", outcome: "ok", count: 1n },
    ]);
    await vi.waitFor(
      async () => {
        expect((await client.call(getAccount, {})).keys[0]!.lastUseTime).toBeDefined();
      },
      { timeout: 10_000, interval: 300 },
    );
  });

  test("works with a spent quota, a spent rate, and before and after the subscription", async () => {
    const spent = await addUser({ requestsPerSecond: 0.001, burst: 1, requestsPerMonth: 1 });
    expect(await requestFaceVector(service, spent)).toBe(200);
    expect(await requestFaceVector(service, spent)).toBe(429);
    expect((await clientOf(spent).call(getAccount, {})).name).toBe(spent);

    const ended = await addUser({}, { endsAt: new Date("2021-01-01T00:00:00Z") });
    expect(await requestFaceVector(service, ended)).toBe(402);
    const { subscription } = await clientOf(ended).call(getAccount, {});
    expect(subscription!.state).toBe(SubscriptionState.ENDED);
    const { key } = await clientOf(ended).call(createKey, {
      replaces: fingerprint(ended),
      graceDays: 0,
    });
    expect((await clientOf(key).call(getAccount, {})).keys).toHaveLength(1);

    const early = await addUser({}, { startsAt: new Date(Date.now() + DAY_MS) });
    const { subscription: later } = await clientOf(early).call(getAccount, {});
    expect(later!.state).toBe(SubscriptionState.NOT_STARTED);
  });

  test("is rejected for strangers and disabled users over every protocol", async () => {
    const disabled = await addUser({}, { enabled: false });
    for (const [key, reason] of [
      [disabled, "UNKNOWN_USER"],
      ["nobody-has-this-key", "UNKNOWN_USER"],
    ] as const) {
      const headers = { ...bearer(key), "x-forwarded-for": "203.0.113.1" };
      for (const client of createUnaryClients(service.port, headers))
        await expect(client.call(getAccount, {}), client.name).rejects.toThrow(reason);
    }
    const nobody = createUnaryClients(service.port, { "x-forwarded-for": "203.0.113.2" });
    for (const client of nobody)
      await expect(client.call(getAccount, {}), client.name).rejects.toThrow("NO_USER_ID");
  });

  test("is limited to a burst of 20, apart from the rate of the plan", async () => {
    const key = await addUser();
    const calls = Array.from({ length: 120 }, () => clientOf(key).call(getAccount, {}));
    const results = await Promise.allSettled(calls);
    const rejected = results.filter((result) => result.status === "rejected");
    expect(rejected.length).toBeGreaterThan(0);
    expect(rejected.length).toBeLessThanOrEqual(100);
    for (const { reason } of rejected) expect(reason.message).toBe("TOO_MANY_REQUESTS");
    expect(await requestFaceVector(service, key)).toBe(200);
  });
});

describe("GetUsage", () => {
  test("sums by month, operation and outcome, of the caller alone", async () => {
    const key = await addUser();
    const [user] = await store.findUsers(key);
    const row = {
      userId: user!.id,
      day: "2026-01-09",
      key: "k",
      operation: "match_faces",
      outcome: "ok",
      count: 4,
    };
    await store.addUsage("account-usage", [row, { ...row, outcome: "NO_FACE", count: 9 }]);
    for (const client of createUnaryClients(service.port, bearer(key))) {
      const { counts } = await client.call(getUsage, { firstMonth: "2025-12", lastMonth: "2026-02" });
      expect(counts, client.name).toMatchObject([
        { month: "2026-01", operation: "match_faces", outcome: "NO_FACE", count: 9n },
        { month: "2026-01", operation: "match_faces", outcome: "ok", count: 4n },
      ]);
    }
    const other = clientOf(await addUser());
    expect((await other.call(getUsage, { firstMonth: "2025-12" })).counts).toEqual([]);
  });

  test.each([
    { firstMonth: "2026-13" },
    { lastMonth: "January" },
    { firstMonth: "2026-02", lastMonth: "2026-01" },
    { firstMonth: "2025-11", lastMonth: "2026-02", byDay: true },
  ])("rejects %o", async (request) => {
    await expect(clientOf(await addUser()).call(getUsage, request)).rejects.toThrow("BAD_REQUEST");
  });
});

describe("keys", () => {
  test("are created, replaced and deleted over every protocol", async () => {
    for (const [i, { name }] of createUnaryClients(service.port, {}).entries()) {
      const old = await addUser();
      const client = createUnaryClients(service.port, bearer(old))[i]!;
      const door = { name: "door", scopes: ["identify"], galleryIds: ["staff"] };
      const added = await client.call(createKey, door);
      expect(added.key, name).toMatch(/^vsg_[0-9a-f]{32}$/);
      const created = await client.call(createKey, { replaces: fingerprint(added.key) });
      const keys = new Map(created.keys.map((key) => [key.fingerprint, key]));
      expect(keys.get(fingerprint(old)), name).toMatchObject({
        name: "first key",
        scopes: [],
        current: true,
      });
      expect(keys.get(fingerprint(old))!.expireTime).toBeUndefined();
      const graceMs = timestampDate(keys.get(fingerprint(added.key))!.expireTime!).getTime() - Date.now();
      expect(Math.round(graceMs / DAY_MS)).toBe(7);
      expect(keys.get(fingerprint(created.key))).toMatchObject({ ...door, current: false });
      for (const [reason, deleted] of [
        ["KEY_IN_USE", fingerprint(old)],
        ["KEY_NOT_FOUND", "0123456789"],
      ] as const)
        await expect(client.call(deleteKey, { fingerprint: deleted }), name).rejects.toThrow(reason);
      await client.call(deleteKey, { fingerprint: fingerprint(added.key) });
      expect((await client.call(getAccount, {})).keys).toHaveLength(2);
    }
  });

  test("create, replace and delete only keys that can do no more and last no longer", async () => {
    const full = await addUser();
    const soon = timestampFromDate(new Date(Date.now() + DAY_MS));
    const limits = { scopes: ["identify", "account"], galleryIds: ["staff"], expireTime: soon };
    const { key: limited } = await clientOf(full).call(createKey, limits);
    const client = clientOf(limited);
    // What is missing is as in the key of the request.
    const { key: copy, keys } = await client.call(createKey, {});
    expect(keys.find((key) => key.fingerprint === fingerprint(copy))).toMatchObject(limits);
    await client.call(createKey, { scopes: ["identify"], replaces: fingerprint(copy), graceDays: 0 });
    const escalations = [
      { scopes: ["identify", "export"] },
      { galleryIds: ["staff", "guests"] },
      { expireTime: timestampFromDate(new Date(Date.now() + 2 * DAY_MS)) },
      { replaces: fingerprint(full) },
      { replaces: fingerprint(full), scopes: ["identify"], galleryIds: ["staff"], expireTime: soon },
    ];
    for (const escalation of escalations)
      await expect(client.call(createKey, escalation)).rejects.toThrow("RIGHTS_EXCEEDED");
    await expect(client.call(deleteKey, { fingerprint: fingerprint(full) })).rejects.toThrow(
      "RIGHTS_EXCEEDED",
    );
    const { key: other } = await clientOf(full).call(createKey, { scopes: ["identify"] });
    await expect(clientOf(other).call(createKey, {})).rejects.toThrow("SCOPE_MISSING");
    // Two keys in one request can do what both can.
    const both = createRestClient(service.port, { ...bearer(full), "x-api-key": limited });
    await expect(both.call(createKey, { scopes: ["export"] })).rejects.toThrow("RIGHTS_EXCEEDED");
  });

  test("that were just deleted create no other key, although they are still cached", async () => {
    const stolen = await addUser();
    const { key } = await clientOf(stolen).call(createKey, {});
    await clientOf(key).call(deleteKey, { fingerprint: fingerprint(stolen) });
    await expect(clientOf(stolen).call(createKey, {})).rejects.toThrow("UNKNOWN_USER");
    await expect(clientOf(stolen).call(deleteKey, { fingerprint: fingerprint(key) })).rejects.toThrow(
      "UNKNOWN_USER",
    );
    expect((await clientOf(key).call(getAccount, {})).keys).toHaveLength(1);
  });

  test("are never more than twenty, however many requests race", async () => {
    const key = await addUser();
    const [user] = await store.findUsers(key);
    for (let i = 0; i < 14; i++) await store.addKey(user!.id, newKey(hashKey(`${key}-${i}`)));
    const client = clientOf(key);
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => client.call(createKey, {})));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
    for (const result of results)
      if (result.status === "rejected") expect(result.reason.message).toBe("TOO_MANY_KEYS");
    expect((await client.call(getAccount, {})).keys).toHaveLength(20);
  });

  test("of other users are out of reach", async () => {
    const other = await addUser();
    const client = clientOf(await addUser());
    await expect(client.call(deleteKey, { fingerprint: fingerprint(other) })).rejects.toThrow(
      "KEY_NOT_FOUND",
    );
    expect((await clientOf(other).call(getAccount, {})).keys).toHaveLength(1);
  });

  test.each([
    { replaces: "0123456789", graceDays: -1 },
    { replaces: "0123456789", graceDays: 3651 },
    { graceDays: 1 },
    { scopes: ["everything"] },
    { name: " " },
    { galleryIds: ["a/b"] },
    { galleryIds: Array.from({ length: 21 }, (_, i) => `g${i}`) },
    { expireTime: timestampFromDate(new Date(Date.now() - 1_000)) },
  ])("are not created by %o", async (request) => {
    await expect(clientOf(await addUser()).call(createKey, request)).rejects.toThrow("BAD_REQUEST");
  });
});
