import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { AccountService, SubscriptionState } from "../../gen/ts/visage/v1/account_pb.ts";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { fingerprintOf, hashKey } from "../../src/accounts/key.ts";
import { currentMonth } from "../../src/accounts/month-clock.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { addTestUser } from "../support/accounts.ts";
import { requestFaceVector, startTestService } from "../support/service.ts";
import { createRestClient, createUnaryClients } from "../support/unary-clients.ts";

const { getAccount, getUsage, createKey, deleteKey } = AccountService.method;
const DAY_MS = 86_400_000;

let dataDir: string;
let store: AccountStore;
let service: RunningService;
const lines: string[] = [];
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "visage-account-"));
  store = await openAccountStore({ databaseUrl: undefined, dataDir });
  const log = createLog("info", {
    write: (line) => void lines.push(line),
    dropped: 0,
    flush: async () => {},
  });
  service = await startTestService({ VISAGE_DATA_DIR: dataDir, VISAGE_TRUSTED_PROXIES: "127.0.0.1" }, log);
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
        plan: { name: key, requestsPerSecond: 2.5, burst: 7n, requestsPerMonth: 100n },
        subscription: { state: SubscriptionState.ACTIVE },
        quota: { month: currentMonth(), used: 0n, remaining: 100n },
        keys: [{ fingerprint: fingerprint(key), current: true }],
      });
      expect(account.plan!.maxGalleries).toBeUndefined();
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
    const { key } = await clientOf(ended).call(createKey, { graceDays: 0 });
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
    const row = { userId: user!.id, month: "2026-01", operation: "match_faces", outcome: "ok", count: 4 };
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
  ])("rejects %o", async (request) => {
    await expect(clientOf(await addUser()).call(getUsage, request)).rejects.toThrow("BAD_REQUEST");
  });
});

describe("keys", () => {
  test("are rotated and deleted over every protocol", async () => {
    for (const [i, { name }] of createUnaryClients(service.port, {}).entries()) {
      const old = await addUser();
      const client = createUnaryClients(service.port, bearer(old))[i]!;
      const created = await client.call(createKey, {});
      expect(created.key, name).toMatch(/^vsg_[0-9a-f]{32}$/);
      expect(created.keys).toMatchObject([
        { fingerprint: fingerprint(old), current: true },
        { fingerprint: fingerprint(created.key), current: false },
      ]);
      const graceMs = timestampDate(created.keys[0]!.expireTime!).getTime() - Date.now();
      expect(Math.round(graceMs / DAY_MS)).toBe(7);
      await expect(client.call(createKey, {}), name).rejects.toThrow("TOO_MANY_KEYS");
      await expect(client.call(deleteKey, { fingerprint: fingerprint(old) }), name).rejects.toThrow(
        "KEY_IN_USE",
      );
      await expect(client.call(deleteKey, { fingerprint: "0123456789" }), name).rejects.toThrow(
        "KEY_NOT_FOUND",
      );
      const renewed = createUnaryClients(service.port, bearer(created.key))[i]!;
      await renewed.call(deleteKey, { fingerprint: fingerprint(old) });
      expect((await renewed.call(getAccount, {})).keys).toMatchObject([
        { fingerprint: fingerprint(created.key), current: true },
      ]);
    }
  });

  test("that were just deleted create no other key, although they are still cached", async () => {
    const stolen = await addUser();
    const { key } = await clientOf(stolen).call(createKey, {});
    await clientOf(key).call(deleteKey, { fingerprint: fingerprint(stolen) });
    await expect(clientOf(stolen).call(createKey, { graceDays: 0 })).rejects.toThrow("UNKNOWN_USER");
    await expect(clientOf(stolen).call(deleteKey, { fingerprint: fingerprint(key) })).rejects.toThrow(
      "UNKNOWN_USER",
    );
    expect((await clientOf(key).call(getAccount, {})).keys).toHaveLength(1);
  });

  test("are never more than two, however many rotations race", async () => {
    const key = await addUser();
    const client = clientOf(key);
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, () => client.call(createKey, { graceDays: 1 })),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const result of results)
      if (result.status === "rejected") expect(result.reason.message).toBe("TOO_MANY_KEYS");
    expect((await client.call(getAccount, {})).keys).toHaveLength(2);
  });

  test("of other users are out of reach", async () => {
    const other = await addUser();
    const client = clientOf(await addUser());
    await expect(client.call(deleteKey, { fingerprint: fingerprint(other) })).rejects.toThrow(
      "KEY_NOT_FOUND",
    );
    expect((await clientOf(other).call(getAccount, {})).keys).toHaveLength(1);
  });

  test.each([-1, 3651])("reject a grace of %i days", async (graceDays) => {
    await expect(clientOf(await addUser()).call(createKey, { graceDays })).rejects.toThrow("BAD_REQUEST");
  });

  test("leave audit lines without the key", async () => {
    const old = await addUser();
    const [user] = await store.findUsers(old);
    lines.length = 0;
    const { key } = await clientOf(old).call(createKey, {});
    await clientOf(key).call(deleteKey, { fingerprint: fingerprint(old) });
    const changes = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === "account changed");
    expect(changes).toMatchObject([
      { user: user!.fingerprint, operation: "CreateKey", resource: `keys/${fingerprint(key)}` },
      { user: user!.fingerprint, operation: "DeleteKey", resource: `keys/${fingerprint(old)}` },
    ]);
    expect(lines.join()).not.toContain(key);
    expect(lines.join()).not.toContain(old);
  });
});
