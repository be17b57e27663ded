import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  AccountService,
  type PlanLimitsSchema,
  SubscriptionState,
} from "../../gen/ts/visage/v1/account_pb.ts";
import { AdminService } from "../../gen/ts/visage/v1/admin_pb.ts";
import { fingerprintOf, hashKey } from "../../src/accounts/key.ts";
import { currentMonth } from "../../src/accounts/month-clock.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import { fieldOfLimit, LIMIT_NAMES, PLAN_LIMITS } from "../../src/plan-limits.ts";
import { photograph } from "../support/images.ts";
import { openSocket, readResponse } from "../support/raw-http.ts";
import { ADMIN_KEY, requestFaceVector, startTestService } from "../support/service.ts";
import { createRestClient, createUnaryClients, type UnaryClient } from "../support/unary-clients.ts";

const DAY_MS = 86_400_000;
const { method } = AdminService;

let dataDir: string;
let service: RunningService;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "visage-admin-"));
  service = await startTestService({ VISAGE_DATA_DIR: dataDir, VISAGE_ADMIN_KEY: ADMIN_KEY });
});
afterAll(async () => {
  await service.close();
  await rm(dataDir, { recursive: true });
});

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const adminClients = () => createUnaryClients(service.port, bearer(ADMIN_KEY));
const asUser = (key: string) => createRestClient(service.port, bearer(key));

let admin: UnaryClient;
let name: string;
let names = 0;
beforeEach(() => {
  admin = createRestClient(service.port, bearer(ADMIN_KEY));
  name = `user ${++names}/ä`;
});

/** Starts a request that is admitted but has not sent its body. Returns what finishes it and returns its status. */
async function startAnalysis(key: string): Promise<() => Promise<number>> {
  const body = JSON.stringify({ image: { content: photograph(3).toString("base64") } });
  const socket = await openSocket(service.port);
  onTestFinished(() => void socket.destroy());
  const lines = ["Host: a", `user_id: ${key}`, "Expect: 100-continue", `Content-Length: ${body.length}`];
  socket.write(["POST /v1/images:analyze HTTP/1.1", ...lines, "", ""].join("\r\n"));
  const [chunk] = await once(socket, "data");
  expect(String(chunk)).toMatch(/^HTTP\/1.1 100 /);
  return async () => {
    socket.write(body);
    return (await readResponse(socket)).status;
  };
}

describe("the operator", () => {
  test("creates, finds, changes and deletes a user over every protocol", async () => {
    for (const client of adminClients()) {
      const endTime = timestampFromDate(new Date(Date.now() + DAY_MS));
      const { user, key } = await client.call(method.createUser, { name, plan: "basic", endTime });
      expect(user, client.name).toMatchObject({
        name,
        plan: "basic",
        enabled: true,
        subscription: { state: SubscriptionState.ACTIVE },
        usedThisMonth: 0n,
      });
      expect((await asUser(key).call(AccountService.method.getAccount, {})).name).toBe(name);
      const byName = await client.call(method.getUser, { user: name });
      expect(byName.user).toEqual(user);
      expect(byName.keys).toHaveLength(1);
      for (const text of [user!.userId, user!.fingerprint])
        expect((await client.call(method.getUser, { user: text })).user!.name).toBe(name);
      const changed = await client.call(method.updateUser, {
        user: name,
        plan: "pro",
        enabled: false,
        extendDays: 30,
        certificateSubject: "client.example",
      });
      expect(changed.user, client.name).toMatchObject({
        plan: "pro",
        enabled: false,
        certificateSubject: "client.example",
        subscription: { state: SubscriptionState.DISABLED },
      });
      const days = (timestampDate(changed.user!.subscription!.endTime!).getTime() - Date.now()) / DAY_MS;
      expect(Math.round(days)).toBe(31);
      const endless = await client.call(method.updateUser, {
        user: name,
        withoutEnd: true,
        certificateSubject: "",
      });
      expect(endless.user!.subscription!.endTime).toBeUndefined();
      expect(endless.user!.certificateSubject).toBeUndefined();
      await client.call(method.deleteUser, { user: name });
      await expect(client.call(method.getUser, { user: name })).rejects.toThrow("USER_NOT_FOUND");
    }
  });

  test("rotates and deletes the keys of a user, also the last one", async () => {
    for (const client of adminClients()) {
      const { key } = await client.call(method.createUser, { name });
      const first = fingerprintOf(hashKey(key));
      const door = { name: "door", scopes: ["identify"], galleryIds: ["staff"] };
      const added = await client.call(method.createUserKey, { user: name, ...door });
      expect(added.keys, client.name).toEqual(
        expect.arrayContaining([expect.objectContaining(door), expect.objectContaining({ scopes: [] })]),
      );
      await client.call(method.deleteUserKey, { user: name, fingerprint: fingerprintOf(hashKey(added.key)) });
      const created = await client.call(method.createUserKey, {
        user: name,
        replaces: first,
        graceDays: 0,
      });
      expect(created.key, client.name).not.toBe(key);
      expect(created.keys).toMatchObject([{ name: "first key" }]);
      const [{ fingerprint } = { fingerprint: "" }] = created.keys;
      await expect(
        client.call(method.deleteUserKey, { user: name, fingerprint: "0000000000" }),
      ).rejects.toThrow("KEY_NOT_FOUND");
      await client.call(method.deleteUserKey, { user: name, fingerprint });
      expect((await client.call(method.getUser, { user: name })).keys).toEqual([]);
      await client.call(method.deleteUser, { user: name });
    }
  });

  test("creates, changes and deletes plans over every protocol", async () => {
    for (const client of adminClients()) {
      const created = await client.call(method.createPlan, { name, limits: { requestsPerSecond: 1.5 } });
      expect(created.plan, client.name).toMatchObject({
        name,
        limits: { requestsPerSecond: 1.5, burst: 3n },
      });
      await expect(client.call(method.createPlan, { name })).rejects.toThrow("PLAN_EXISTS");
      const changed = await client.call(method.updatePlan, {
        name,
        limits: { requestsPerMonth: 10n, maxGalleries: 0n },
        unlimited: ["requests_per_second"],
        off: ["urls", "galleries"],
      });
      expect(changed.plan).toMatchObject({ limits: { burst: 3n, requestsPerMonth: 10n, maxGalleries: 0n } });
      expect(changed.plan!.off).toEqual(["identify", "read", "enrol", "export", "delete", "urls"]);
      expect(changed.plan!.limits!.requestsPerSecond).toBeUndefined();
      const switchedOn = await client.call(method.updatePlan, { name, off: ["none"] });
      expect(switchedOn.plan).toEqual({ ...changed.plan, off: [] });
      await client.call(method.createUser, { name, plan: name });
      const { plans } = await client.call(method.listPlans, {});
      expect(plans.find(({ plan }) => plan!.name === name)).toMatchObject({ userCount: 1 });
      await expect(client.call(method.deletePlan, { name })).rejects.toThrow("PLAN_IN_USE");
      await client.call(method.deleteUser, { user: name });
      await client.call(method.deletePlan, { name });
      await expect(client.call(method.deletePlan, { name })).rejects.toThrow("PLAN_NOT_FOUND");
    }
  });

  test("stores, returns and removes every limit of plans", async () => {
    const limits = Object.fromEntries(
      LIMIT_NAMES.map((limit, i) => [limit, PLAN_LIMITS[limit].kind === "rate" ? i + 1.5 : BigInt(i + 1)]),
    );
    const { plan } = await admin.call(method.createPlan, { name, limits });
    expect(plan).toMatchObject({ name, limits });
    for (const limit of LIMIT_NAMES.filter((one) => !PLAN_LIMITS[one].isRequired)) {
      const changed = await admin.call(method.updatePlan, { name, unlimited: [fieldOfLimit(limit)] });
      expect(changed.plan!.limits![limit], limit).toBeUndefined();
    }
    await admin.call(method.deletePlan, { name });
  });

  test("lists users by pages, and searches them", async () => {
    for (const suffix of ["a", "b", "c"]) await admin.call(method.createUser, { name: `${name} ${suffix}` });
    const first = await admin.call(method.listUsers, { query: name.toUpperCase(), pageSize: 2 });
    // Only ASCII letters have no case.
    expect(first.users).toEqual([]);
    const page = await admin.call(method.listUsers, { query: name, pageSize: 2 });
    expect(page.users.map((user) => user.name)).toEqual([`${name} a`, `${name} b`]);
    expect(page.totalSize).toBe(3);
    const rest = await admin.call(method.listUsers, {
      query: name,
      pageSize: 2,
      pageToken: page.nextPageToken,
    });
    expect(rest).toMatchObject({ users: [{ name: `${name} c` }], nextPageToken: "" });
    // A last page that is full has no next one, either.
    const whole = await admin.call(method.listUsers, { query: name, pageSize: 3 });
    expect(whole).toMatchObject({ users: [{}, {}, {}], nextPageToken: "" });
  });

  test("renews a subscription several times at once, and each renewal counts", async () => {
    const endsAt = new Date(Date.now() + DAY_MS);
    await admin.call(method.createUser, { name, endTime: timestampFromDate(endsAt) });
    const renewals = adminClients().map((client) =>
      client.call(method.updateUser, { user: name, extendDays: 1 }),
    );
    const count = (await Promise.all(renewals)).length;
    const { user } = await admin.call(method.getUser, { user: name });
    expect(timestampDate(user!.subscription!.endTime!)).toEqual(new Date(endsAt.getTime() + count * DAY_MS));
  });

  test("sees the usage of one user and of all", async () => {
    const store = await openAccountStore({ databaseUrl: undefined, dataDir });
    onTestFinished(() => store.close());
    const { user } = await admin.call(method.createUser, { name });
    const day = `${currentMonth()}-01`;
    await store.addUsage(name, [
      { userId: user!.userId, day, key: "k", operation: "match_faces", outcome: "ok", count: 5 },
    ]);
    const request = { firstMonth: "2020-01" };
    for (const client of adminClients()) {
      const { counts } = await client.call(method.sumUsage, { ...request, user: name });
      expect(counts, client.name).toMatchObject([{ operation: "match_faces", outcome: "ok", count: 5n }]);
      const all = await client.call(method.sumUsage, request);
      expect(all.counts.find(({ operation }) => operation === "match_faces")!.count).toBe(5n);
    }
    const detailed = await admin.call(method.sumUsage, { user: name, byDay: true, byKey: true });
    expect(detailed.counts).toMatchObject([{ day, key: "k", count: 5n }]);
    expect((await admin.call(method.getUser, { user: name })).user!.usedThisMonth).toBe(5n);
  });

  test("gets errors that name the field or the conflict", async () => {
    await admin.call(method.createUser, { name });
    const user = name;
    const extreme = timestampFromDate(new Date("9999-12-01T00:00:00Z"));
    type Limits = MessageInitShape<typeof PlanLimitsSchema>;
    const createPlan = (limits: Limits) => admin.call(method.createPlan, { name: "p", limits });
    const updatePlan = (limits: Limits) => admin.call(method.updatePlan, { name: "basic", limits });
    await admin.call(method.updateUser, { user, endTime: extreme });
    for (const [reason, attempt] of [
      ["USER_EXISTS", () => admin.call(method.createUser, { name })],
      ["BAD_REQUEST", () => admin.call(method.createUser, {})],
      ["BAD_REQUEST", () => admin.call(method.createUser, { name: " spaces " })],
      ["BAD_REQUEST", () => admin.call(method.createUser, { name: "x".repeat(101) })],
      ["BAD_REQUEST", () => admin.call(method.createUser, { name: "y\0", plan: "basic" })],
      ["BAD_REQUEST", () => admin.call(method.createUser, { name: "y", plan: "\0" })],
      ["PLAN_NOT_FOUND", () => admin.call(method.createUser, { name: "y", plan: "none" })],
      [
        "BAD_REQUEST",
        () => admin.call(method.createUser, { name: "y", startTime: extreme, endTime: extreme }),
      ],
      ["BAD_REQUEST", () => admin.call(method.updateUser, { user, extendDays: 0 })],
      ["BAD_REQUEST", () => admin.call(method.updateUser, { user, extendDays: 3650 })],
      ["BAD_REQUEST", () => admin.call(method.updateUser, { user, extendDays: 1, withoutEnd: true })],
      ["PLAN_NOT_FOUND", () => admin.call(method.updateUser, { user, plan: "none" })],
      ["USER_NOT_FOUND", () => admin.call(method.updateUser, { user: "nobody", enabled: true })],
      ["BAD_REQUEST", () => admin.call(method.listUsers, { pageToken: "*" })],
      ["BAD_REQUEST", () => admin.call(method.listUsers, { pageToken: "eA==" })],
      ["BAD_REQUEST", () => admin.call(method.listUsers, { pageToken: "AA" })],
      ["BAD_REQUEST", () => admin.call(method.listUsers, { pageToken: "x".repeat(10_000) })],
      ["BAD_REQUEST", () => admin.call(method.listUsers, { pageSize: 1001 })],
      ["BAD_REQUEST", () => admin.call(method.listUsers, { pageSize: -1 })],
      ["BAD_REQUEST", () => createPlan({ burst: 0n })],
      ["BAD_REQUEST", () => createPlan({ requestsPerMonth: 0n })],
      ["BAD_REQUEST", () => createPlan({ requestsPerSecond: -1 })],
      ["BAD_REQUEST", () => createPlan({ requestsPerSecond: 1e-320 })],
      ["BAD_REQUEST", () => createPlan({ maxGalleries: 2n ** 60n })],
      ["BAD_REQUEST", () => updatePlan({ requestsPerSecond: 0.0009 })],
      ["BAD_REQUEST", () => updatePlan({ requestsPerMonth: 0n })],
      ["BAD_REQUEST", () => admin.call(method.updatePlan, { name: "basic", unlimited: ["burst"] })],
      ["BAD_REQUEST", () => admin.call(method.updatePlan, { name: "basic", unlimited: ["maxGalleries"] })],
      ["BAD_REQUEST", () => admin.call(method.updatePlan, { name: "basic", off: ["export", "none"] })],
      ["BAD_REQUEST", () => admin.call(method.createPlan, { name: "p", off: ["everything"] })],
      ["PLAN_NOT_FOUND", () => admin.call(method.updatePlan, { name: "none" })],
      ["BAD_REQUEST", () => admin.call(method.sumUsage, { firstMonth: "x" })],
      ["BAD_REQUEST", () => admin.call(method.sumUsage, { byKey: true })],
      ["BAD_REQUEST", () => admin.call(method.sumUsage, { firstMonth: "2026-00" })],
      ["BAD_REQUEST", () => admin.call(method.sumUsage, { lastMonth: "10000-01" })],
      ["BAD_REQUEST", () => admin.call(method.sumUsage, { firstMonth: "9999-12" })],
    ] as const)
      await expect(attempt(), String(attempt)).rejects.toThrow(reason);
    const headers = { ...bearer(ADMIN_KEY), "content-type": "application/json" };
    const body = JSON.stringify({ name: "p", limits: { burst: 0 } });
    const response = await fetch(`http://127.0.0.1:${service.port}/v1/admin/plans`, {
      method: "POST",
      headers,
      body,
    });
    expect(await response.text()).toContain("The field limits.burst must be 1 to ");
    const taken = { certificateSubject: "taken.example" };
    await admin.call(method.updateUser, { user, ...taken });
    await expect(admin.call(method.createUser, { name: `${name}2`, ...taken })).rejects.toThrow(
      "CERTIFICATE_TAKEN",
    );
  });

  test("disables a user within five seconds", async () => {
    const { key } = await admin.call(method.createUser, { name, plan: "unlimited" });
    expect(await requestFaceVector(service, key)).toBe(200);
    await admin.call(method.updateUser, { user: name, enabled: false });
    await expect.poll(() => requestFaceVector(service, key), { timeout: 15_000, interval: 500 }).toBe(401);
  });

  test("accepts the first and the last month", async () => {
    const months = { firstMonth: "0000-01", lastMonth: "9999-12" };
    await admin.call(method.createUser, { name });
    expect((await admin.call(method.sumUsage, { user: name, ...months })).counts).toEqual([]);
  });

  test("lets calls in flight finish when their user is disabled or deleted", async () => {
    for (const change of [
      () => admin.call(method.updateUser, { user: name, enabled: false }),
      () => admin.call(method.deleteUser, { user: name }),
    ]) {
      const { key } = await admin.call(method.createUser, { name, plan: "unlimited" });
      const finish = await startAnalysis(key);
      await change();
      expect(await finish()).toBe(200);
      await expect.poll(() => requestFaceVector(service, key), { timeout: 15_000 }).toBe(401);
      await admin.call(method.deleteUser, { user: name }).catch(() => {});
    }
    await expect.poll(() => service.status().requestsInFlight).toBe(0);
  });
});
