import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { AccountStore, User } from "../../src/accounts/account-store.ts";
import { hashKey } from "../../src/accounts/key.ts";
import { ensureTrialUser, trialUserPath } from "../../src/accounts/trial-user.ts";
import { addTestUser, newKey, openTestStore } from "../support/accounts.ts";

const KEY = "configured-trial-key";

let store: AccountStore;
let dataDir: string;

beforeEach(async () => {
  store = await openTestStore();
  dataDir = await mkdtemp(join(tmpdir(), "visage-trial-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
});

const runAudited = (_user: User, create: () => Promise<void>) => create();
const ensureConfigured = () =>
  ensureTrialUser({ store, key: KEY, dataDir: undefined, mayGenerate: false, runAudited });
const ensureGenerated = (mayGenerate = true) =>
  ensureTrialUser({ store, key: undefined, dataDir, mayGenerate, runAudited });

/** Replaces the key of the only user. */
async function rotate(expiresAt: Date): Promise<void> {
  const [user] = await store.listUsers();
  const replaced = (await store.listKeys(user!.id))[0]!;
  await store.addKey(user!.id, newKey(hashKey("new key")), { replaced: { hash: replaced.hash, expiresAt } });
}

describe("a configured trial key", () => {
  test("gets a user, once, also if replicas start together", async () => {
    expect(await Promise.all([1, 2, 3].map(ensureConfigured))).toEqual([KEY, KEY, KEY]);
    expect(await ensureConfigured()).toBe(KEY);
    expect(await store.listUsers()).toMatchObject([{ plan: "unlimited", enabled: true }]);
  });

  test("stays valid during the grace of a rotation", async () => {
    await ensureConfigured();
    await rotate(new Date(Date.now() + 3_600_000));
    expect(await ensureConfigured()).toBe(KEY);
  });

  test("that was rotated or revoked does not come back, and does not stop the start", async () => {
    await ensureConfigured();
    await rotate(new Date());
    expect(await ensureConfigured()).toBeUndefined();
    await store.removeKey(hashKey("new key"));
    expect(await ensureConfigured()).toBeUndefined();
    expect(await store.listUsers()).toHaveLength(1);
    expect(await store.findAccount({ keyHash: hashKey(KEY) }, "")).toBeUndefined();
  });

  test("is an error if its plan was removed", async () => {
    await store.removePlan("unlimited");
    await expect(ensureConfigured()).rejects.toThrow('The plan "unlimited" does not exist');
  });
});

describe("a generated trial key", () => {
  test("is kept in a file", async () => {
    const key = await ensureGenerated();
    expect(key).toMatch(/^vsg_[0-9a-f]{32}$/);
    expect(await readFile(trialUserPath(dataDir), "utf8")).toBe(`${key}\n`);
    expect(await ensureGenerated()).toBe(key);
  });

  test("is not offered any more after it was replaced", async () => {
    await ensureGenerated();
    await rotate(new Date());
    expect(await ensureGenerated()).toBeUndefined();
    expect(await store.listUsers()).toHaveLength(1);
  });

  test("is not created where other machines reach the service, but one that exists is offered", async () => {
    expect(await ensureGenerated(false)).toBeUndefined();
    expect(await store.listUsers()).toEqual([]);
    const key = await ensureGenerated();
    expect(await ensureGenerated(false)).toBe(key);
  });

  test("is not created beside other users", async () => {
    await addTestUser(store, "anna");
    expect(await ensureGenerated()).toBeUndefined();
  });
});
