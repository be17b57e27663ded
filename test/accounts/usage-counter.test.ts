import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { AccountStore, KeyUse, UsageCount } from "../../src/accounts/account-store.ts";
import { hashKey } from "../../src/accounts/key.ts";
import { UsageCounter } from "../../src/accounts/usage-counter.ts";
import { addTestUser, openTestStore, storedCount } from "../support/accounts.ts";

const MONTH = "2026-03";
const DAY = `${MONTH}-31`;

let anna: string;
let bela: string;
let store: AccountStore;
let counter: UsageCounter;
let storeErrors: unknown[];
let batches: {
  readonly id: string;
  readonly counts: readonly UsageCount[];
  readonly keyUses: readonly KeyUse[] | undefined;
}[];
/** What happens to a batch: it is stored, or the request or the response is lost. */
let connection: "open" | "requestLost" | "responseLost";

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  store = await openTestStore();
  ({ id: anna } = await addTestUser(store, "anna"));
  ({ id: bela } = await addTestUser(store, "bela"));
  storeErrors = [];
  batches = [];
  connection = "open";
  const addUsage: AccountStore["addUsage"] = async (id, counts, keyUses) => {
    batches.push({ id, counts, keyUses });
    if (connection === "requestLost") throw new Error("connection refused");
    await store.addUsage(id, counts, keyUses);
    if (connection === "responseLost") throw new Error("connection reset");
  };
  counter = new UsageCounter({ addUsage }, (error) => storeErrors.push(error));
  onTestFinished(() => counter.close());
});

const addMany = (count: number, userId = anna, outcome = "ok") => {
  for (let number = 0; number < count; number++)
    counter.add({ userId, day: DAY, key: "k", operation: "get_face_vec", outcome });
};

describe("the usage counter", () => {
  test("counts by user, day, key, operation and outcome", async () => {
    addMany(3);
    addMany(2, bela);
    addMany(1, anna, "noFace");
    counter.add({ userId: anna, day: "2026-04-01", key: "k", operation: "get_face_vec", outcome: "ok" });
    counter.add({ userId: anna, day: DAY, key: "", operation: "match_faces", outcome: "ok" });
    await counter.flush();
    const counts = await store.listUsage({ userId: anna });
    expect(
      counts.map(({ day, key, operation, outcome, count }) => [day, key, operation, outcome, count]),
    ).toEqual([
      [DAY, "", "match_faces", "ok", 1],
      [DAY, "k", "get_face_vec", "noFace", 1],
      [DAY, "k", "get_face_vec", "ok", 3],
      ["2026-04-01", "k", "get_face_vec", "ok", 1],
    ]);
    expect(await store.listUsage({ userId: bela })).toHaveLength(1);
    expect(batches).toHaveLength(1);
  });

  test("writes twice a second if there is something to write", async () => {
    addMany(3);
    vi.advanceTimersByTime(499);
    expect(batches).toHaveLength(0);
    vi.advanceTimersByTime(1);
    await vi.waitUntil(async () => (await storedCount(store)) === 3);
    vi.advanceTimersByTime(10_000);
    expect(batches).toHaveLength(1);
  });

  test("reports the successes that have not been sent", async () => {
    addMany(3);
    addMany(1, anna, "noFace");
    expect(counter.unsentSuccesses(anna, MONTH)).toBe(3);
    expect(counter.unsentSuccesses(anna, "2026-04")).toBe(0);
    connection = "requestLost";
    const sending = counter.flush();
    addMany(2);
    expect(counter.unsentSuccesses(anna, MONTH)).toBe(2);
    await sending;
    expect(counter.unsentSuccesses(anna, MONTH)).toBe(2);
  });

  test.each(["requestLost", "responseLost"] as const)("counts a batch once after %s", async (failure) => {
    connection = failure;
    addMany(3);
    await counter.flush();
    addMany(4);
    await counter.flush();
    connection = "open";
    await counter.flush();
    await counter.flush();
    expect(await storedCount(store)).toBe(7);
    expect(batches.map(({ id }) => id === batches[0]!.id)).toEqual([true, true, true, false]);
    expect(batches[2]).toEqual(batches[0]);
    expect(storeErrors).toHaveLength(1);
  });

  test("aggregates the requests of an outage", async () => {
    connection = "requestLost";
    addMany(1);
    await counter.flush();
    addMany(100_000);
    connection = "open";
    await counter.flush();
    await counter.flush();
    expect(batches.map(({ counts }) => counts.length)).toEqual([1, 1, 1]);
    expect(await storedCount(store)).toBe(100_001);
  });

  test("drops the counts of a removed user", async () => {
    addMany(3);
    addMany(2, bela);
    await store.removeUser(bela);
    await counter.flush();
    expect(await storedCount(store)).toBe(3);
    expect(storeErrors).toEqual([]);
  });

  test("limits the size of a batch", async () => {
    for (let number = 0; number < 2_500; number++) addMany(1, `${number}`);
    for (let number = 0; number < 3; number++) await counter.flush();
    expect(batches.map(({ counts }) => counts.length)).toEqual([1_000, 1_000, 500]);
  });
});

describe("the last use of a key", () => {
  const noon = new Date("2026-03-31T12:00:00Z");
  const use = (...keys: string[]) =>
    counter.add(
      { userId: anna, day: DAY, key: "k", operation: "get_face_vec", outcome: "ok" },
      keys.map(hashKey),
    );
  const usesOf = (batch: number) => batches[batch]?.keyUses?.map(({ hash, usedAt }) => [hash, usedAt]);

  beforeEach(() => {
    vi.useFakeTimers({ now: noon, toFake: ["Date", "setInterval", "clearInterval"] });
  });

  test("is stored to the minute", async () => {
    vi.setSystemTime(new Date("2026-03-31T12:00:59.999Z"));
    use("anna");
    await counter.flush();
    expect(await store.listKeys(anna)).toMatchObject([{ hash: hashKey("anna"), lastUsedAt: noon }]);
    expect(await store.listKeys(bela)).toMatchObject([{ lastUsedAt: undefined }]);
  });

  test("is written once a minute", async () => {
    for (let number = 0; number < 3; number++) {
      use("anna");
      await counter.flush();
    }
    vi.setSystemTime(new Date("2026-03-31T12:01:10Z"));
    use("anna");
    await counter.flush();
    expect([0, 1, 2, 3].map(usesOf)).toEqual([
      [[hashKey("anna"), noon]],
      [],
      [],
      [[hashKey("anna"), new Date("2026-03-31T12:01:00Z")]],
    ]);
  });

  test("is not later than the use if the store was unavailable meanwhile", async () => {
    connection = "requestLost";
    addMany(1);
    await counter.flush();
    use("anna");
    vi.setSystemTime(new Date("2026-03-31T13:00:00Z"));
    use("bela");
    connection = "open";
    for (let number = 0; number < 2; number++) await counter.flush();
    expect(await store.listKeys(anna)).toMatchObject([{ lastUsedAt: noon }]);
    expect(await store.listKeys(bela)).toMatchObject([{ lastUsedAt: new Date("2026-03-31T13:00:00Z") }]);
  });

  test("is written in batches of limited size", async () => {
    use(...Array.from({ length: 1_500 }, (_, i) => `key ${i}`));
    await counter.flush();
    addMany(1);
    await counter.flush();
    expect([0, 1].map((batch) => usesOf(batch)?.length)).toEqual([1_000, 500]);
  });
});

describe("closing the usage counter", () => {
  test("writes the remaining counts and waits for the pending batch", async () => {
    addMany(3);
    void counter.flush();
    addMany(4);
    await counter.close();
    expect(await storedCount(store)).toBe(7);
  });

  test("retries", async () => {
    connection = "requestLost";
    addMany(3);
    const closing = counter.close();
    await vi.waitUntil(() => storeErrors.length === 1);
    connection = "open";
    await closing;
    expect(await storedCount(store)).toBe(3);
    expect(batches).toHaveLength(2);
  });

  test("gives up after three attempts and reports the number of lost requests", async () => {
    connection = "requestLost";
    addMany(3);
    await counter.flush();
    addMany(4, bela);
    await counter.close();
    expect(batches).toHaveLength(4);
    expect(storeErrors.at(-1)).toEqual(new Error("The counts of 7 requests are lost."));
  });
});
