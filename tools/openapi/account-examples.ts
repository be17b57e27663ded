import { setTimeout as sleep } from "node:timers/promises";
import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { AccountService } from "../../gen/ts/visage/v1/account_pb.ts";
import { AdminService } from "../../gen/ts/visage/v1/admin_pb.ts";
import { createSyntheticFace } from "../../src/core/synthetic-face.ts";
import { readRoutes } from "../../src/rest/routes.ts";
import type { ExampleCall } from "./api-metadata.ts";
import { createExampleRequest } from "./example-request.ts";
import { fullMethodName } from "./examples.ts";

/** A running service whose accounts may be changed. */
export interface AdministeredService {
  readonly port: number;
  readonly adminKey: string;
}

const GENERATED_KEY = /vsg_[0-9a-f]{32}/g;
/** Stands for every key in the examples, so that no scanner takes one for a secret that leaked. */
const EXAMPLE_KEY = "vsg_00112233445566778899aabbccddeeff";

const USAGE_POLL_MS = 100;
const USER = { user: "acme" };
const PLAN = { name: "gold" };
const DOOR = { name: "door", scopes: ["identify"], galleryIds: ["staff"] };

/**
 * Calls every method of AccountService and AdminService: from the creation of a plan and a user to their deletion.
 * Returns the requests and responses by the full names of the methods.
 */
export async function recordAccountExamples({
  port,
  adminKey,
}: AdministeredService): Promise<Record<string, ExampleCall>> {
  const examples: Record<string, ExampleCall> = {};
  const origin = `http://127.0.0.1:${port}`;
  const call = async (method: DescMethod, request: JsonObject, key: string): Promise<JsonObject> => {
    const route = readRoutes(method.parent).find((one) => one.method === method)!;
    const { target, ...init } = createExampleRequest(route, request);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(origin + target, { ...init, headers });
    const json = (await response.json()) as JsonObject;
    if (!response.ok) throw new Error(`${target}: ${JSON.stringify(json)}`);
    examples[fullMethodName(method)] = { request, response: withoutKeys(json) };
    return json;
  };
  const { method: admin } = AdminService;
  const { method: account } = AccountService;
  const asAdmin = (method: DescMethod, request: JsonObject) => call(method, request, adminKey);

  await asAdmin(admin.createPlan, { ...PLAN, limits: { requestsPerSecond: 20, requestsPerMonth: "100000" } });
  await asAdmin(admin.updatePlan, { ...PLAN, limits: { maxGalleries: "50" } });
  const endTime = "2030-01-01T00:00:00Z";
  const { key } = await asAdmin(admin.createUser, { name: USER.user, plan: PLAN.name, endTime });
  await useService(origin, key as string);
  // Usage is written a moment after the request.
  const hasUsage = async () => ((await asAdmin(admin.sumUsage, USER)).counts as JsonObject[]).length > 0;
  while (!(await hasUsage())) await sleep(USAGE_POLL_MS);
  await asAdmin(admin.listPlans, {});
  await asAdmin(admin.listUsers, { query: USER.user, pageSize: 10 });
  await asAdmin(admin.getUser, USER);
  await call(account.getAccount, {}, key as string);
  await call(account.getUsage, {}, key as string);
  const created = await call(account.createKey, DOOR, key as string);
  const { fingerprint } = (created.keys as JsonObject[]).at(-1)!;
  await call(account.deleteKey, { fingerprint: fingerprint! }, key as string);
  const added = await asAdmin(admin.createUserKey, { ...USER, ...DOOR });
  const last = (added.keys as JsonObject[]).at(-1)!;
  await asAdmin(admin.deleteUserKey, { ...USER, fingerprint: last.fingerprint! });
  await asAdmin(admin.updateUser, { ...USER, plan: "pro", extendDays: 30 });
  await asAdmin(admin.deleteUser, USER);
  await asAdmin(admin.deletePlan, PLAN);
  return examples;
}

/** Makes a request that counts as usage. */
async function useService(origin: string, key: string): Promise<void> {
  const response = await fetch(`${origin}/v1/images:analyze`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ image: { content: Buffer.from(createSyntheticFace()).toString("base64") } }),
  });
  await response.body?.cancel();
}

function withoutKeys(json: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(json).replaceAll(GENERATED_KEY, EXAMPLE_KEY)) as JsonObject;
}
