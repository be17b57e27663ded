import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { AccountStore, UsageCount } from "../../src/accounts/account-store.ts";
import { UsageCounter } from "../../src/accounts/usage-counter.ts";
import { hashOf } from "../../src/accounts/user-id.ts";
import { addTestUser, openTestStore, storedCount } from "../support/accounts.ts";

const ANNA = hashOf("anna");
const BELA = hashOf("bela");
const MONTH = "2026-03";

let store: AccountStore;
let counter: UsageCounter;
let troubles: unknown[];
let batches: { readonly id: string; readonly counts: readonly UsageCount[] }[];
/** What happens to a batch on its way: it arrives, it gets lost, or only the answer gets lost. */
let line: "sound" | "lost" | "answerLost";

beforeEach(async () => {
  store = await openTestStore();
  await addTestUser(store, "anna");
  await addTestUser(store, "bela");
  troubles = [];
  batches = [];
  line = "sound";
  const addUsage: AccountStore["addUsage"] = async (id, counts) => {
    batches.push({ id, counts });
    if (line === "lost") throw new Error("connection refused");
    await store.addUsage(id, counts);
    if (line === "answerLost") throw new Error("connection reset");
  };
  counter = new UsageCounter({ addUsage }, (error) => troubles.push(error));
  onTestFinished(() => counter.close());
});

const addMany = (count: number, idHash = ANNA, outcome = "ok") => {
  for (let number = 0; number < count; number++) counter.add(idHash, MONTH, "get_face_vec", outcome);
};

describe("counting usage", () => {
  test("adds up by user, month, operation and outcome", async () => {
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

  test("writes by itself within a second, and nothing when nothing happened", async () => {
    addMany(3);
    await sleep(1_100);
    expect(await storedCount(store)).toBe(3);
    expect(batches).toHaveLength(1);
  });

  test("tells what has not been sent", async () => {
    addMany(3);
    addMany(1, ANNA, "noFace");
    expect(counter.unsentSuccesses(ANNA, MONTH)).toBe(3);
    expect(counter.unsentSuccesses(ANNA, "2026-04")).toBe(0);
    line = "lost";
    const sending = counter.flush();
    addMany(2);
    expect(counter.unsentSuccesses(ANNA, MONTH)).toBe(2);
    await sending;
    expect(counter.unsentSuccesses(ANNA, MONTH)).toBe(2);
  });

  test.each(["lost", "answerLost"] as const)("counts once where a batch's way is %s", async (way) => {
    line = way;
    addMany(3);
    await counter.flush();
    addMany(4);
    await counter.flush();
    line = "sound";
    await counter.flush();
    await counter.flush();
    expect(await storedCount(store)).toBe(7);
    expect(batches.map(({ id }) => id === batches[0]!.id)).toEqual([true, true, true, false]);
    expect(batches[2]).toEqual(batches[0]);
    expect(troubles).toHaveLength(1);
  });

  test("keeps what came while the store was away in a few numbers", async () => {
    line = "lost";
    addMany(1);
    await counter.flush();
    addMany(100_000);
    line = "sound";
    await counter.flush();
    await counter.flush();
    expect(batches.map(({ counts }) => counts.length)).toEqual([1, 1, 1]);
    expect(await storedCount(store)).toBe(100_001);
  });

  test("goes on where a user was removed meanwhile", async () => {
    addMany(3);
    addMany(2, BELA);
    await store.removeUser(BELA);
    await counter.flush();
    expect(await storedCount(store)).toBe(3);
    expect(troubles).toEqual([]);
  });

  test("sends no batch that takes the store long", async () => {
    for (let number = 0; number < 2_500; number++)
      counter.add(hashOf(`${number}`), MONTH, "get_face_vec", "ok");
    for (let number = 0; number < 3; number++) await counter.flush();
    expect(batches.map(({ counts }) => counts.length)).toEqual([1_000, 1_000, 500]);
  });
});

describe("closing the counter", () => {
  test("writes what is left, also what is on its way", async () => {
    addMany(3);
    void counter.flush();
    addMany(4);
    await counter.close();
    expect(await storedCount(store)).toBe(7);
  });

  test("tries again", async () => {
    line = "lost";
    addMany(3);
    const closing = counter.close();
    await sleep(50);
    line = "sound";
    await closing;
    expect(await storedCount(store)).toBe(3);
    expect(batches).toHaveLength(2);
  });

  test("gives up in the end and tells how much is lost", async () => {
    line = "lost";
    addMany(3);
    await counter.flush();
    addMany(4, BELA);
    await counter.close();
    expect(batches).toHaveLength(4);
    expect(troubles.at(-1)).toEqual(new Error("The counts of 7 requests are lost."));
  });
});
