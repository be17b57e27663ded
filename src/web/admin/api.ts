import type {
  CreatedKey,
  Key,
  KeyRequest,
  PlanLimits,
  PlanSummary,
  UsageCount,
  User,
} from "../accounts/messages.ts";
import { callService, type ServiceCall } from "../site/request.ts";
import { readFromTab, storeInTab } from "../site/tab-storage.ts";

const ADMIN_KEY = "admin_key";

/** Reads the admin key of this browser tab; empty if there is none. No other page reads it. */
export function readAdminKey(): string {
  return readFromTab(ADMIN_KEY) ?? "";
}

/** Stores the admin key for this browser tab; an empty one is removed. */
export function storeAdminKey(key: string): void {
  storeInTab(ADMIN_KEY, key);
}

/** A page of users. */
export interface UserPage {
  readonly users: readonly User[];
  readonly nextPageToken: string;
  readonly totalSize: number;
}

/** The changes of a user that the page makes. */
export interface UserChanges {
  readonly plan?: string;
  readonly enabled?: boolean;
  readonly endTime?: string;
  readonly extendDays?: number;
  readonly withoutEnd?: boolean;
}

/** Calls AdminService with the admin key, and never with the key of a user. Throws RequestError. */
async function call<Body>(options: ServiceCall): Promise<Body> {
  const headers = { authorization: `Bearer ${readAdminKey()}` };
  return (await callService<Body>({ ...options, path: `v1/admin/${options.path}`, key: "", headers })).body;
}

function userPath(userId: string, rest = ""): string {
  return `users/${encodeURIComponent(userId)}${rest}`;
}

/** Lists a page of the users that a search finds. */
export function listUsers(query: string, pageSize: number, pageToken: string): Promise<UserPage> {
  const parameters = new URLSearchParams({ query, pageSize: String(pageSize), pageToken });
  return call({ path: `users?${parameters}` });
}

/** Reads a user with its keys. */
export function readUser(userId: string): Promise<{ readonly user: User; readonly keys: readonly Key[] }> {
  return call({ path: userPath(userId) });
}

/** Creates a user. The response has its key once. */
export function createUser(
  user: Pick<User, "name" | "plan"> & { readonly endTime?: string },
): Promise<{ readonly user: User; readonly key: string }> {
  return call({ path: "users", json: user });
}

export async function updateUser(userId: string, changes: UserChanges): Promise<void> {
  await call({ method: "PATCH", path: userPath(userId), json: changes });
}

export async function deleteUser(userId: string): Promise<void> {
  await call({ method: "DELETE", path: userPath(userId) });
}

/** Creates a key of a user. */
export function createUserKey(userId: string, request: KeyRequest): Promise<CreatedKey> {
  return call({ path: userPath(userId, "/keys"), json: request });
}

export async function deleteUserKey(userId: string, fingerprint: string): Promise<void> {
  await call({ method: "DELETE", path: userPath(userId, `/keys/${fingerprint}`) });
}

export async function listPlans(): Promise<readonly PlanSummary[]> {
  return (await call<{ plans: readonly PlanSummary[] }>({ path: "plans" })).plans;
}

export async function createPlan(name: string, limits: PlanLimits, off: readonly string[]): Promise<void> {
  await call({ path: "plans", json: { name, limits, off } });
}

/** Changes the given limits of a plan, removes those whose fields are in `unlimited`, and sets what is switched off. */
export async function updatePlan(
  name: string,
  limits: PlanLimits,
  unlimited: readonly string[],
  off: readonly string[],
): Promise<void> {
  const json = { limits, unlimited, off: off.length > 0 ? off : ["none"] };
  await call({ method: "PATCH", path: `plans/${encodeURIComponent(name)}`, json });
}

export async function deletePlan(name: string): Promise<void> {
  await call({ method: "DELETE", path: `plans/${encodeURIComponent(name)}` });
}

/** Sums the usage of a month (YYYY-MM) by day, of one user also by key, or of all users. */
export async function sumUsage(month: string, user = ""): Promise<readonly UsageCount[]> {
  const by = { byDay: "true", byKey: String(user !== "") };
  const parameters = new URLSearchParams({ user, firstMonth: month, lastMonth: month, ...by });
  return (await call<{ counts: readonly UsageCount[] }>({ path: `usage?${parameters}` })).counts;
}
