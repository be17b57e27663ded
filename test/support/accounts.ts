import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { AccountStore, Plan, User } from "../../src/accounts/account-store.ts";
import { openSqliteStore } from "../../src/accounts/sqlite-store.ts";
import { fingerprintOf, hashOf } from "../../src/accounts/user-id.ts";

/** An SQLite store in a folder of its own, until the test is over. */
export async function openTestStore(): Promise<AccountStore> {
  const folder = await mkdtemp(join(tmpdir(), "visage-accounts-"));
  const store = await openSqliteStore(join(folder, "accounts.db"));
  onTestFinished(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });
  return store;
}

/** Adds a user by its id, which is its name too, with a plan of its own: without limits but those given. */
export async function addTestUser(
  store: AccountStore,
  id: string,
  limits: Partial<Plan> = {},
  changes: Partial<User> = {},
): Promise<User> {
  const idHash = hashOf(id);
  await store.setPlan({
    name: id,
    requestsPerSecond: undefined,
    burst: 1,
    requestsPerMonth: undefined,
    maxImageBytes: undefined,
    ...limits,
  });
  const user: User = {
    idHash,
    fingerprint: fingerprintOf(idHash),
    name: id,
    plan: id,
    startsAt: new Date("2020-01-01T00:00:00Z"),
    endsAt: undefined,
    enabled: true,
    ...changes,
  };
  await store.addUser(user);
  return user;
}

/** What is stored of requests that ended in a way, of all users. */
export async function storedCount(store: AccountStore, outcome = "ok"): Promise<number> {
  const usage = await store.listUsage();
  return usage.filter((one) => one.outcome === outcome).reduce((sum, { count }) => sum + count, 0);
}
