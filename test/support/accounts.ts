import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { AccountStore, NewKey, Plan, User } from "../../src/accounts/account-store.ts";
import { createUserId, fingerprintOf, hashKey } from "../../src/accounts/key.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";

/** Opens an SQLite store in a temporary folder that is removed after the test. */
export async function openTestStore(): Promise<AccountStore> {
  const folder = await mkdtemp(join(tmpdir(), "visage-accounts-"));
  const store = await openAccountStore({ databaseUrl: undefined, dataDir: folder });
  onTestFinished(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });
  return store;
}

/** Adds a user with its own plan. The key is also the name of the user and of the plan, which has only the given limits. */
export async function addTestUser(
  store: AccountStore,
  key: string,
  limits: Partial<Plan> = {},
  changes: Partial<User> = {},
): Promise<User> {
  const id = createUserId();
  await store.addPlan({ name: key, burst: 1, ...limits });
  const user: User = {
    id,
    fingerprint: fingerprintOf(id),
    name: key,
    plan: key,
    startsAt: new Date("2020-01-01T00:00:00Z"),
    endsAt: undefined,
    enabled: true,
    certificateSubject: undefined,
    ...changes,
  };
  await store.addUser(user, hashKey(key));
  return user;
}

/** Creates a key to add, without a name and for everything by default. */
export function newKey(hash: string, fields: Partial<NewKey> = {}): NewKey {
  return { hash, name: "", expiresAt: undefined, ...fields };
}

/** Returns the stored number of requests of all users with an outcome. */
export async function storedCount(store: AccountStore, outcome = "ok"): Promise<number> {
  const usage = await store.listUsage();
  return usage.filter((count) => count.outcome === outcome).reduce((sum, { count }) => sum + count, 0);
}
