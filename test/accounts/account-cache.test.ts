import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AccountCache } from "../../src/accounts/account-cache.ts";
import type { Account, AccountStore } from "../../src/accounts/account-store.ts";
import { hashOf } from "../../src/accounts/user-id.ts";
import { addTestUser, openTestStore } from "../support/accounts.ts";

const GRACE_MS = 60_000;
const ANNA = hashOf("anna");
const BELA = hashOf("bela");
const STRANGER = hashOf("stranger");

let store: AccountStore;
let cache: AccountCache;
/** Ids that the store was asked for. */
let reads: string[];
let troubles: unknown[];
/** What stands between the cache and the store: nothing, a broken connection, or one that does not answer. */
let line: "sound" | "broken" | "silent";

beforeEach(async () => {
  vi.useFakeTimers();
  store = await openTestStore();
  await addTestUser(store, "anna");
  await addTestUser(store, "bela");
  reads = [];
  troubles = [];
  line = "sound";
  cache = new AccountCache({
    read: async (idHash) => {
      reads.push(idHash);
      if (line === "broken") throw new Error("connection refused");
      if (line === "silent") return new Promise(() => {});
      return store.findAccount(idHash, "2026-03");
    },
    graceMs: GRACE_MS,
    onTrouble: (error) => troubles.push(error),
  });
});
afterEach(() => vi.useRealTimers());

const accountOf = (name: string) => expect.objectContaining({ user: expect.objectContaining({ name }) });
const disable = (idHash: string) => store.changeUser(idHash, { enabled: false });

describe("accounts while the store answers", () => {
  test("are read once and given at once for 2 seconds", async () => {
    expect(await cache.find(ANNA)).toEqual(accountOf("anna"));
    vi.advanceTimersByTime(1_999);
    expect(cache.find(ANNA)).toEqual(accountOf("anna"));
    expect(reads).toEqual([ANNA]);
  });

  test("are read once for all who ask at the same time", async () => {
    const found = await Promise.all(Array.from({ length: 50 }, () => cache.find(ANNA)));
    expect(found).toEqual(Array(50).fill(accountOf("anna")));
    expect(reads).toEqual([ANNA]);
  });

  test("are read again after 3 seconds, and waited for", async () => {
    await cache.find(ANNA);
    await disable(ANNA);
    vi.advanceTimersByTime(3_000);
    const found = cache.find(ANNA);
    expect(found).toBeInstanceOf(Promise);
    expect((await found) as Account).toHaveProperty("user.enabled", false);
  });

  test("are always at hand for one who comes often, and yet never older than 3 seconds", async () => {
    await cache.find(ANNA);
    for (let ms = 0; ms < 10_000; ms += 100) {
      expect(cache.find(ANNA)).toEqual(accountOf("anna"));
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(reads.length).toBeLessThanOrEqual(6);
    await disable(ANNA);
    await vi.advanceTimersByTimeAsync(2_900);
    void cache.find(ANNA);
    await vi.advanceTimersByTimeAsync(100);
    expect(cache.find(ANNA)).toHaveProperty("user.enabled", false);
  });

  test("are unknown for 3 seconds where the store has none", async () => {
    expect(await cache.find(STRANGER)).toBe("unknown");
    await addTestUser(store, "stranger");
    vi.advanceTimersByTime(2_999);
    expect(cache.find(STRANGER)).toBe("unknown");
    expect(reads).toEqual([STRANGER]);
    vi.advanceTimersByTime(1);
    expect(await cache.find(STRANGER)).toEqual(accountOf("stranger"));
  });

  test("are unknown when the user was removed", async () => {
    await cache.find(ANNA);
    await store.removeUser(ANNA);
    vi.advanceTimersByTime(3_000);
    expect(await cache.find(ANNA)).toBe("unknown");
    expect(cache.isKnown(ANNA)).toBe(false);
  });

  test("are not pushed out by unknown ids, of which only so many are remembered", async () => {
    await cache.find(ANNA);
    for (let number = 0; number < 10_500; number++) await cache.find(hashOf(`stranger ${number}`));
    expect(cache.size).toBe(10_001);
    expect(cache.isKnown(ANNA)).toBe(true);
    vi.advanceTimersByTime(3_000);
    await cache.find(STRANGER);
    expect(cache.size).toBe(2);
  });

  test("are forgotten after the grace", async () => {
    await cache.find(ANNA);
    vi.advanceTimersByTime(GRACE_MS);
    expect(cache.isKnown(ANNA)).toBe(false);
    await cache.find(BELA);
    expect(cache.size).toBe(1);
  });
});

describe("accounts while the store is away", () => {
  test("are given at once for the grace, and not after it", async () => {
    await cache.find(ANNA);
    line = "broken";
    vi.advanceTimersByTime(3_000);
    expect(await cache.find(ANNA)).toEqual(accountOf("anna"));
    for (let ms = 3_000; ms < GRACE_MS; ms += 100) {
      expect(cache.find(ANNA)).toEqual(accountOf("anna"));
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(await cache.find(ANNA)).toBe("unavailable");
  });

  test("are tried again once a second, whoever asks, and told of once", async () => {
    await cache.find(ANNA);
    await cache.find(BELA);
    line = "broken";
    await vi.advanceTimersByTimeAsync(3_000);
    reads = [];
    for (let ms = 0; ms < 10_000; ms += 100) {
      for (const id of [ANNA, BELA, STRANGER]) await cache.find(id);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(reads.length).toBe(10);
    expect(troubles).toEqual([new Error("connection refused")]);
  });

  test("are unavailable for ids that were not known before, at once", async () => {
    line = "broken";
    expect(await cache.find(STRANGER)).toBe("unavailable");
    expect(cache.find(STRANGER)).toBe("unavailable");
    expect(cache.find(ANNA)).toBe("unavailable");
  });

  test("are waited for no longer than 1.5 seconds, and by nobody after that", async () => {
    await cache.find(ANNA);
    line = "silent";
    await vi.advanceTimersByTimeAsync(3_000);
    const found = Promise.all([cache.find(ANNA), cache.find(STRANGER)]);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(await found).toEqual([accountOf("anna"), "unavailable"]);
    expect(cache.find(ANNA)).toEqual(accountOf("anna"));
    expect(cache.find(BELA)).toBeInstanceOf(Promise);
    expect(cache.find(hashOf("another"))).toBe("unavailable");
    expect(troubles).toEqual([new Error("The account store did not answer within 1500 ms.")]);
  });

  test("are fresh again within a second of its return", async () => {
    await cache.find(ANNA);
    await disable(ANNA);
    line = "broken";
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await cache.find(ANNA)).toHaveProperty("user.enabled", true);
    line = "sound";
    await vi.advanceTimersByTimeAsync(1_000);
    expect(cache.find(ANNA)).toHaveProperty("user.enabled", true);
    await vi.advanceTimersByTimeAsync(0);
    expect(cache.find(ANNA)).toHaveProperty("user.enabled", false);
    expect(await cache.find(BELA)).toEqual(accountOf("bela"));
  });

  test("do not wait behind a flood of unknown ids", async () => {
    await cache.find(ANNA);
    await vi.advanceTimersByTimeAsync(2_500);
    line = "silent";
    reads = [];
    const flood = Array.from({ length: 300 }, (_, number) => cache.find(hashOf(`stranger ${number}`)));
    expect(reads.length).toBe(256);
    expect(flood.at(-1)).toBe("unavailable");
    void cache.find(ANNA);
    expect(reads.length).toBe(257);
  });
});
