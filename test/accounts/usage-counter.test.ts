import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { AccountStore, UsageCount } from "../../src/accounts/account-store.ts";
import { UsageCounter } from "../../src/accounts/usage-counter.ts";
import { hashUserId } from "../../src/accounts/user-id.ts";
import { addTestUser, openTestStore, storedCount } from "../support/accounts.ts";

const ANNA = hashUserId("anna");
const BELA = hashUserId("bela");
const MONTH = "2026-03";

let store: AccountStore;
let counter: UsageCounter;
let storeErrors: unknown[];
let batches: { readonly id: string; readonly counts: readonly UsageCount[] }[];
/** What happens to a batch: it is stored, or the request or the response is lost. */
let connection: "open" | "requestLost" | "responseLost";

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  store = await openTestStore();
  await addTestUser(store, "anna");
  await addTestUser(store, "bela");
  storeErrors = [];
  batches = [];
  connection = "open";
  const addUsage: AccountStore["addUsage"] = async (id, counts) => {
    batches.push({ id, counts });
    if (connection === "requestLost") throw new Error("connection refused");
    await store.addUsage(id, counts);
    if (connection === "responseLost") throw new Error("connection reset");
  };
  counter = new UsageCounter({ addUsage }, (error) => storeErrors.push(error));
  onTestFinished(() => counter.close());
});

const addMany = (count: number, idHash = ANNA, outcome = "ok") => {
  for (let number = 0; number < count; number++) counter.add(idHash, MONTH, "get_face_vec", outcome);
};

describe("the usage counter", () => {
  test("counts by user, month, operation and outcome", async () => {
    addMany(3);
    addMany(2, BELA);
    addMany(1, ANNA, "noFace");
    counter.add(ANNA, "2026-04", "get_face_vec", "ok");
    counter.add(ANNA, MONTH, "match_faces", "ok");
    await counter.flush();
    const counts = await store.listUsage({ idHash: ANNA });
    expect(counts.map(({ month, operation, outcome, count }) => [month, operation, outcome, count])).toEqual([
      [MONTH, "get_face_vec", "noFace", 1],
      [MONTH, "get_face_vec", "ok", 3],
      [MONTH, "match_faces", "ok", 1],
      ["2026-04", "get_face_vec", "ok", 1],
    ]);
    expect(await store.listUsage({ idHash: BELA })).toHaveLength(1);
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
    addMany(1, ANNA, "noFace");
    expect(counter.unsentSuccesses(ANNA, MONTH)).toBe(3);
    expect(counter.unsentSuccesses(ANNA, "2026-04")).toBe(0);
    connection = "requestLost";
    const sending = counter.flush();
    addMany(2);
    expect(counter.unsentSuccesses(ANNA, MONTH)).toBe(2);
    await sending;
    expect(counter.unsentSuccesses(ANNA, MONTH)).toBe(2);
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
    addMany(2, BELA);
    await store.removeUser(BELA);
    await counter.flush();
    expect(await storedCount(store)).toBe(3);
    expect(storeErrors).toEqual([]);
  });

  test("limits the size of a batch", async () => {
    for (let number = 0; number < 2_500; number++)
      counter.add(hashUserId(`${number}`), MONTH, "get_face_vec", "ok");
    for (let number = 0; number < 3; number++) await counter.flush();
    expect(batches.map(({ counts }) => counts.length)).toEqual([1_000, 1_000, 500]);
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
    addMany(4, BELA);
    await counter.close();
    expect(batches).toHaveLength(4);
    expect(storeErrors.at(-1)).toEqual(new Error("The counts of 7 requests are lost."));
  });
});
