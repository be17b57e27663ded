import { describe, expect, test } from "vitest";
import { type BodyLease, ByteBudget } from "../../src/http/byte-budget.ts";
import type { ServiceError } from "../../src/service/service-error.ts";

const never = new AbortController().signal;

/** Creates a budget of 100 bytes, where a body waits for at most 50 ms. */
function createBudget(totalBytes = 100, maxWaitMs = 50): ByteBudget {
  return new ByteBudget({ totalBytes, maxWaitMs });
}

/** Opens the lease of a body and records its evictions. */
function openBody(budget: ByteBudget, user: string): BodyLease & { readonly evictions: ServiceError[] } {
  const evictions: ServiceError[] = [];
  const lease = budget.open(user, (error) => evictions.push(error));
  return {
    evictions,
    charge: (bytes, signal) => lease.charge(bytes, signal),
    complete: () => lease.complete(),
    release: () => lease.release(),
  };
}

test("bytes are charged at once while there is room, and freed once", () => {
  const budget = createBudget();
  const body = openBody(budget, "a");
  expect(body.charge(60, never)).toBe(true);
  expect(body.charge(40, never)).toBe(true);
  expect(budget.usedBytes).toBe(100);
  body.release();
  body.release();
  expect(budget.usedBytes).toBe(0);
});

test("a body without room waits until another is released", async () => {
  const budget = createBudget(100, 10_000);
  const [first, second] = [openBody(budget, "a"), openBody(budget, "b")];
  expect(first.charge(80, never)).toBe(true);
  expect(second.charge(20, never)).toBe(true);
  first.complete();
  const third = openBody(budget, "c");
  const waiting = third.charge(30, never);
  expect(budget.waiting).toBe(1);
  first.release();
  await waiting;
  expect(budget.usedBytes).toBe(50);
});

test("the oldest unfinished body always proceeds, so that bodies cannot deadlock", async () => {
  const budget = createBudget(100, 10_000);
  const [oldest, newer] = [openBody(budget, "a"), openBody(budget, "a")];
  expect(oldest.charge(50, never)).toBe(true);
  expect(newer.charge(50, never)).toBe(true);
  const waiting = newer.charge(50, never);
  expect(oldest.charge(50, never)).toBe(true);
  oldest.complete();
  // It is the oldest unfinished body now.
  await waiting;
  expect(budget.usedBytes).toBe(200);
});

test("a body that waits for too long is rejected with tooManyInFlight if its user holds most, else overloaded", async () => {
  const budget = createBudget();
  expect(openBody(budget, "c").charge(10, never)).toBe(true);
  const [hog, more, other] = [openBody(budget, "a"), openBody(budget, "a"), openBody(budget, "b")];
  expect(hog.charge(90, never)).toBe(true);
  hog.complete();
  await expect(more.charge(20, never)).rejects.toMatchObject({ kind: "tooManyInFlight" });
  await expect(other.charge(20, never)).rejects.toMatchObject({ kind: "overloaded" });
});

test("a cancelled charge leaves nothing behind", async () => {
  const budget = createBudget(100, 10_000);
  const [first, second] = [openBody(budget, "a"), openBody(budget, "a")];
  expect(first.charge(100, never)).toBe(true);
  const caller = new AbortController();
  const waiting = second.charge(10, caller.signal);
  caller.abort(new Error("cancelled"));
  await expect(waiting).rejects.toThrow("cancelled");
  second.release();
  expect([budget.waiting, budget.usedBytes]).toEqual([0, 100]);
});

describe("messages of streams", () => {
  const openMessage = (budget: ByteBudget, user: string) => budget.open(user, () => {}, true);

  test("of one user get half of the budget", async () => {
    const budget = createBudget(100, 10_000);
    const [one, more, other] = [openMessage(budget, "a"), openMessage(budget, "a"), openMessage(budget, "b")];
    expect(one.charge(40, never)).toBe(true);
    one.complete();
    const waiting = more.charge(20, never);
    expect(waiting).toBeInstanceOf(Promise);
    await other.charge(50, never);
    expect(budget.usedBytes).toBe(90);
    one.release();
    await waiting;
    expect(budget.usedBytes).toBe(70);
  });

  test("proceed beyond the limits one at a time, while no finished one will free memory", async () => {
    const budget = createBudget(100, 10_000);
    const [oldest, newer] = [openMessage(budget, "a"), openMessage(budget, "a")];
    expect(oldest.charge(30, never)).toBe(true);
    expect(newer.charge(20, never)).toBe(true);
    const waiting = newer.charge(90, never) as Promise<void>;
    expect(oldest.charge(90, never)).toBe(true);
    oldest.complete();
    expect([budget.waiting, budget.usedBytes]).toEqual([1, 140]);
    oldest.release();
    await waiting;
    expect(budget.usedBytes).toBe(110);
  });
});

describe("while another user waits", () => {
  test("a user keeps no more than an equal share: its newest unfinished bodies are evicted", async () => {
    const budget = createBudget(100, 10_000);
    const held = Array.from({ length: 10 }, () => openBody(budget, "hog"));
    for (const body of held) expect(body.charge(10, never)).toBe(true);
    await openBody(budget, "other").charge(30, never);
    expect(held.map(({ evictions }) => evictions.length)).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 1, 1]);
    expect(held.at(-1)!.evictions[0]).toMatchObject({ kind: "tooManyInFlight" });
    expect(budget.usedBytes).toBe(100);
  });

  test("bodies that have been read are not evicted", async () => {
    const budget = createBudget();
    const held = Array.from({ length: 10 }, () => openBody(budget, "hog"));
    for (const body of held) {
      expect(body.charge(10, never)).toBe(true);
      body.complete();
    }
    const first = openBody(budget, "x");
    expect(first.charge(1, never)).toBe(true);
    await expect(openBody(budget, "other").charge(30, never)).rejects.toMatchObject({ kind: "overloaded" });
    expect(held.every(({ evictions }) => evictions.length === 0)).toBe(true);
  });

  test("a user beyond its own share evicts nobody", async () => {
    const budget = createBudget();
    const [one, other] = [openBody(budget, "a"), openBody(budget, "b")];
    expect(one.charge(50, never)).toBe(true);
    expect(other.charge(50, never)).toBe(true);
    await expect(openBody(budget, "b").charge(10, never)).rejects.toMatchObject({ kind: "overloaded" });
    expect(one.evictions).toEqual([]);
  });

  test("a third user is served beside two that hold everything", async () => {
    const budget = createBudget(90, 10_000);
    for (let i = 0; i < 9; i++) expect(openBody(budget, i % 2 ? "a" : "b").charge(10, never)).toBe(true);
    await openBody(budget, "c").charge(30, never);
    expect(budget.usedBytes).toBeLessThanOrEqual(90);
  });
});

test("the budget is closed for a user that has used up its share while others wait", () => {
  const budget = createBudget(100, 10_000);
  expect(openBody(budget, "a").charge(100, never)).toBe(true);
  expect(budget.isClosedFor("a")).toBe(false);
  const waiting = openBody(budget, "b").charge(60, never) as Promise<void>;
  waiting.catch(() => {});
  expect([budget.isClosedFor("a"), budget.isClosedFor("b")]).toEqual([true, false]);
});
