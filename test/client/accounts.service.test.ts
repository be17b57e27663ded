import { afterAll, beforeAll, expect, expectTypeOf, onTestFinished, test } from "vitest";
import type { GetAccountResponse } from "../../gen/ts/visage/v1/account_pb.ts";
import { createVisageClient, type VisageClient } from "../../src/client/visage-client.ts";
import type { RunningService } from "../../src/main.ts";
import { FRAME, startLossyProxy } from "../support/lossy-proxy.ts";
import { ADMIN_KEY, startTestService } from "../support/service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await startTestService({ VISAGE_ADMIN_KEY: ADMIN_KEY });
});
afterAll(() => service.close());

function openClient(apiKey: string, port = service.port): VisageClient {
  const client = createVisageClient({ address: `http://127.0.0.1:${port}`, apiKey });
  onTestFinished(() => client.close());
  return client;
}

/** Opens a client of the operator whose first response is lost: the service has processed the call. */
async function openLossyAdmin(): Promise<VisageClient["admin"]> {
  let responses = 0;
  const isLost = (type: number) => type === FRAME.headers && ++responses === 1;
  return openClient(ADMIN_KEY, await startLossyProxy(service.port, (type) => (isLost(type) ? "cut" : "pass")))
    .admin;
}

test("an operator creates a user, who sees the account and replaces the key", async () => {
  const { admin } = openClient(ADMIN_KEY);
  await admin.createPlan({ name: "gold", limits: { requestsPerSecond: 100 } });
  const { key, user } = await admin.createUser({ name: "acme", plan: "gold" });
  expect(user).toMatchObject({ name: "acme" });
  const { account } = openClient(key);
  expectTypeOf(account.getAccount).returns.resolves.toEqualTypeOf<GetAccountResponse>();
  expect(await account.getAccount()).toMatchObject({ name: "acme", plan: { name: "gold" } });
  expect((await account.getUsage({ firstMonth: "2026-01" })).counts).toEqual([]);
  const created = await account.createKey({});
  const { fingerprint } = created.keys.find(({ current }) => current)!;
  await openClient(created.key).account.deleteKey({ fingerprint });
  expect((await openClient(created.key).account.getAccount()).keys).toHaveLength(1);
  await admin.deleteUser({ user: "acme" });
  await admin.deletePlan({ name: "gold" });
});

test("an error and a cancellation are a VisageError", async () => {
  const { admin } = openClient(ADMIN_KEY);
  const failure = { name: "VisageError", reason: "USER_NOT_FOUND", code: "7001", retryable: false };
  await expect(admin.getUser({ user: "nobody" })).rejects.toMatchObject(failure);
  const cancelled = admin.listUsers({}, { signal: AbortSignal.abort() });
  await expect(cancelled).rejects.toMatchObject({ reason: "CANCELLED" });
});

test("a call is repeated after a lost response only if that has no other effect", async () => {
  const plan = { name: "silver", limits: { requestsPerSecond: 10 } };
  await expect((await openLossyAdmin()).createPlan(plan)).rejects.toMatchObject({
    reason: "UNREACHABLE",
    retryable: true,
  });
  const { plans } = await (await openLossyAdmin()).listPlans();
  expect(plans.map(({ plan }) => plan!.name)).toContain("silver");
});
