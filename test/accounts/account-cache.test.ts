import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AccountCache } from "../../src/accounts/account-cache.ts";
import type { Account, AccountStore } from "../../src/accounts/account-store.ts";
import { hashKey } from "../../src/accounts/key.ts";
import { addTestUser, openTestStore } from "../support/accounts.ts";

const GRACE_MS = 60_000;
const ANNA = hashKey("anna");
const BELA = hashKey("bela");
const UNKNOWN = hashKey("unknown");

let store: AccountStore;
let cache: AccountCache;
/** Id hashes that were read from the store. */
let reads: string[];
let storeErrors: unknown[];
/** State of the connection to the store. */
let connection: "open" | "broken" | "hanging";

beforeEach(async () => {
  vi.useFakeTimers();
  store = await openTestStore();
  await addTestUser(store, "anna");
  await addTestUser(store, "bela");
  reads = [];
  storeErrors = [];
  connection = "open";
  cache = new AccountCache({
    read: async (keyHash) => {
      reads.push(keyHash);
      if (connection === "broken") throw new Error("connection refused");
      if (connection === "hanging") return new Promise(() => {});
      return store.findAccount({ keyHash }, "2026-03");
    },
    graceMs: GRACE_MS,
    onStoreError: (error) => storeErrors.push(error),
    onStoreRecovery: () => storeErrors.push("recovered"),
  });
});
afterEach(() => vi.useRealTimers());

const accountNamed = (name: string) => expect.objectContaining({ user: expect.objectContaining({ name }) });
const disable = async (keyHash: string) => {
  const [user] = await store.findUsers(keyHash);
  await store.updateUser(user!.id, { enabled: false });
};

describe("the account cache while the store responds", () => {
  test("reads an account once and returns it synchronously for 2 seconds", async () => {
    expect(await cache.find(ANNA)).toEqual(accountNamed("anna"));
    vi.advanceTimersByTime(1_999);
    expect(cache.find(ANNA)).toEqual(accountNamed("anna"));
    expect(reads).toEqual([ANNA]);
  });

  test("shares one read between concurrent lookups", async () => {
    const found = await Promise.all(Array.from({ length: 50 }, () => cache.find(ANNA)));
    expect(found).toEqual(Array(50).fill(accountNamed("anna")));
    expect(reads).toEqual([ANNA]);
  });

  test("reads an account again after 3 seconds", async () => {
    await cache.find(ANNA);
    await disable(ANNA);
    vi.advanceTimersByTime(3_000);
    const found = cache.find(ANNA);
    expect(found).toBeInstanceOf(Promise);
    expect((await found) as Account).toHaveProperty("user.enabled", false);
  });

  test("refreshes the account of a frequent user in the background, so that it is never older than 3 seconds", async () => {
    await cache.find(ANNA);
    for (let ms = 0; ms < 10_000; ms += 100) {
      expect(cache.find(ANNA)).toEqual(accountNamed("anna"));
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(reads.length).toBeLessThanOrEqual(6);
    await disable(ANNA);
    await vi.advanceTimersByTimeAsync(2_900);
    void cache.find(ANNA);
    await vi.advanceTimersByTimeAsync(100);
    expect(cache.find(ANNA)).toHaveProperty("user.enabled", false);
  });

  test("caches an unknown id for 3 seconds", async () => {
    expect(await cache.find(UNKNOWN)).toBe("unknown");
    await addTestUser(store, "unknown");
    vi.advanceTimersByTime(2_999);
    expect(cache.find(UNKNOWN)).toBe("unknown");
    expect(reads).toEqual([UNKNOWN]);
    vi.advanceTimersByTime(1);
    expect(await cache.find(UNKNOWN)).toEqual(accountNamed("unknown"));
  });

  test("reports a removed user as unknown", async () => {
    await cache.find(ANNA);
    await store.removeKey(ANNA);
    vi.advanceTimersByTime(3_000);
    expect(await cache.find(ANNA)).toBe("unknown");
    expect(cache.isKnown(ANNA)).toBe(false);
  });

  test("limits the number of cached unknown ids and never evicts known users for them", async () => {
    await cache.find(ANNA);
    for (let number = 0; number < 10_500; number++) await cache.find(hashKey(`unknown ${number}`));
    expect(cache.size).toBe(10_001);
    expect(cache.isKnown(ANNA)).toBe(true);
    vi.advanceTimersByTime(3_000);
    await cache.find(UNKNOWN);
    expect(cache.size).toBe(2);
  });

  test("evicts accounts after the grace period", async () => {
    await cache.find(ANNA);
    vi.advanceTimersByTime(GRACE_MS);
    expect(cache.isKnown(ANNA)).toBe(false);
    await cache.find(BELA);
    expect(cache.size).toBe(1);
  });
});

describe("the account cache while the store is unavailable", () => {
  test("returns cached accounts during the grace period only", async () => {
    await cache.find(ANNA);
    connection = "broken";
    vi.advanceTimersByTime(3_000);
    expect(await cache.find(ANNA)).toEqual(accountNamed("anna"));
    for (let ms = 3_000; ms < GRACE_MS; ms += 100) {
      expect(cache.find(ANNA)).toEqual(accountNamed("anna"));
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(await cache.find(ANNA)).toBe("unavailable");
  });

  test("retries once a second and reports the outage once", async () => {
    await cache.find(ANNA);
    await cache.find(BELA);
    connection = "broken";
    await vi.advanceTimersByTimeAsync(3_000);
    reads = [];
    for (let ms = 0; ms < 10_000; ms += 100) {
      for (const id of [ANNA, BELA, UNKNOWN]) await cache.find(id);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(reads.length).toBe(10);
    expect(storeErrors).toEqual([new Error("connection refused")]);
  });

  test("reports ids that are not cached as unavailable without waiting", async () => {
    connection = "broken";
    expect(await cache.find(UNKNOWN)).toBe("unavailable");
    expect(cache.find(UNKNOWN)).toBe("unavailable");
    expect(cache.find(ANNA)).toBe("unavailable");
  });

  test("waits at most 1.5 seconds for a read that hangs, then no longer at all", async () => {
    await cache.find(ANNA);
    connection = "hanging";
    await vi.advanceTimersByTimeAsync(3_000);
    const found = Promise.all([cache.find(ANNA), cache.find(UNKNOWN)]);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(await found).toEqual([accountNamed("anna"), "unavailable"]);
    expect(cache.find(ANNA)).toEqual(accountNamed("anna"));
    expect(cache.find(BELA)).toBeInstanceOf(Promise);
    expect(cache.find(hashKey("another"))).toBe("unavailable");
    expect(storeErrors).toEqual([new Error("The account store did not answer within 1500 ms.")]);
  });

  test("refreshes accounts within a second after the store recovers", async () => {
    await cache.find(ANNA);
    await disable(ANNA);
    connection = "broken";
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await cache.find(ANNA)).toHaveProperty("user.enabled", true);
    connection = "open";
    await vi.advanceTimersByTimeAsync(1_000);
    expect(cache.find(ANNA)).toHaveProperty("user.enabled", true);
    await vi.advanceTimersByTimeAsync(0);
    expect(cache.find(ANNA)).toHaveProperty("user.enabled", false);
    expect(await cache.find(BELA)).toEqual(accountNamed("bela"));
  });

  test("reads known users even during a flood of unknown ids", async () => {
    await cache.find(ANNA);
    await vi.advanceTimersByTimeAsync(2_500);
    connection = "hanging";
    reads = [];
    const flood = Array.from({ length: 300 }, (_, number) => cache.find(hashKey(`unknown ${number}`)));
    expect(reads.length).toBe(256);
    expect(flood.at(-1)).toBe("unavailable");
    void cache.find(ANNA);
    expect(reads.length).toBe(257);
  });
});
