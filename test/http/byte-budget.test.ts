import { describe, expect, test } from "vitest";
import { type BodyLease, ByteBudget } from "../../src/http/byte-budget.ts";
import type { ServiceError } from "../../src/service/service-error.ts";

const never = new AbortController().signal;

/** A budget of 100 bytes in which a body waits for at most 50 ms. */
function budgetOf(totalBytes = 100, maxWaitMs = 50): ByteBudget {
  return new ByteBudget({ totalBytes, maxWaitMs });
}

/** A body of a user, and why it was evicted, if it was. */
function bodyOf(budget: ByteBudget, user: string): BodyLease & { readonly evictions: ServiceError[] } {
  const evictions: ServiceError[] = [];
  const lease = budget.open(user, (error) => evictions.push(error));
  return {
    evictions,
    charge: (bytes, signal) => lease.charge(bytes, signal),
    complete: () => lease.complete(),
    release: () => lease.release(),
  };
}

test("bytes are charged at once while there is room, and given back once", () => {
  const budget = budgetOf();
  const body = bodyOf(budget, "a");
  expect(body.charge(60, never)).toBe(true);
  expect(body.charge(40, never)).toBe(true);
  expect(budget.usedBytes).toBe(100);
  body.release();
  body.release();
  expect(budget.usedBytes).toBe(0);
});

test("a body that has no room waits, and goes on when another is released", async () => {
  const budget = budgetOf(100, 10_000);
  const [first, second] = [bodyOf(budget, "a"), bodyOf(budget, "b")];
  expect(first.charge(80, never)).toBe(true);
  expect(second.charge(20, never)).toBe(true);
  first.complete();
  const third = bodyOf(budget, "c");
  const waiting = third.charge(30, never);
  expect(budget.waiting).toBe(1);
  first.release();
  await waiting;
  expect(budget.usedBytes).toBe(50);
});

test("the oldest unfinished body always proceeds, so that bodies cannot wait for each other", async () => {
  const budget = budgetOf(100, 10_000);
  const [oldest, newer] = [bodyOf(budget, "a"), bodyOf(budget, "a")];
  expect(oldest.charge(50, never)).toBe(true);
  expect(newer.charge(50, never)).toBe(true);
  const waiting = newer.charge(50, never);
  expect(oldest.charge(50, never)).toBe(true);
  oldest.complete();
  // It is the oldest that is unfinished now.
  await waiting;
  expect(budget.usedBytes).toBe(200);
});

test("a body that waits for too long is rejected, as its user's fault where that holds most", async () => {
  const budget = budgetOf();
  expect(bodyOf(budget, "c").charge(10, never)).toBe(true);
  const [hog, more, other] = [bodyOf(budget, "a"), bodyOf(budget, "a"), bodyOf(budget, "b")];
  expect(hog.charge(90, never)).toBe(true);
  hog.complete();
  await expect(more.charge(20, never)).rejects.toMatchObject({ kind: "tooManyInFlight" });
  await expect(other.charge(20, never)).rejects.toMatchObject({ kind: "overloaded" });
});

test("a client that leaves while its body waits leaves nothing behind", async () => {
  const budget = budgetOf(100, 10_000);
  const [first, second] = [bodyOf(budget, "a"), bodyOf(budget, "a")];
  expect(first.charge(100, never)).toBe(true);
  const leaving = new AbortController();
  const waiting = second.charge(10, leaving.signal);
  leaving.abort(new Error("left"));
  await expect(waiting).rejects.toThrow("left");
  second.release();
  expect([budget.waiting, budget.usedBytes]).toEqual([0, 100]);
});

describe("while another user waits", () => {
  test("a user keeps no more than an equal share: its newest unfinished bodies are evicted", async () => {
    const budget = budgetOf(100, 10_000);
    const held = Array.from({ length: 10 }, () => bodyOf(budget, "hog"));
    for (const body of held) expect(body.charge(10, never)).toBe(true);
    await bodyOf(budget, "other").charge(30, never);
    expect(held.map(({ evictions }) => evictions.length)).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 1, 1]);
    expect(held.at(-1)!.evictions[0]).toMatchObject({ kind: "tooManyInFlight" });
    expect(budget.usedBytes).toBe(100);
  });

  test("bodies that have been read are not evicted", async () => {
    const budget = budgetOf();
    const held = Array.from({ length: 10 }, () => bodyOf(budget, "hog"));
    for (const body of held) {
      expect(body.charge(10, never)).toBe(true);
      body.complete();
    }
    const first = bodyOf(budget, "x");
    expect(first.charge(1, never)).toBe(true);
    await expect(bodyOf(budget, "other").charge(30, never)).rejects.toMatchObject({ kind: "overloaded" });
    expect(held.every(({ evictions }) => evictions.length === 0)).toBe(true);
  });

  test("a user beyond its own share evicts nobody", async () => {
    const budget = budgetOf();
    const [one, other] = [bodyOf(budget, "a"), bodyOf(budget, "b")];
    expect(one.charge(50, never)).toBe(true);
    expect(other.charge(50, never)).toBe(true);
    await expect(bodyOf(budget, "b").charge(10, never)).rejects.toMatchObject({ kind: "overloaded" });
    expect(one.evictions).toEqual([]);
  });

  test("a third user is served beside two that hold everything", async () => {
    const budget = budgetOf(90, 10_000);
    for (let i = 0; i < 9; i++) expect(bodyOf(budget, i % 2 ? "a" : "b").charge(10, never)).toBe(true);
    await bodyOf(budget, "c").charge(30, never);
    expect(budget.usedBytes).toBeLessThanOrEqual(90);
  });
});

test("a user without a share left is turned away at the head while others wait", () => {
  const budget = budgetOf(100, 10_000);
  expect(bodyOf(budget, "a").charge(100, never)).toBe(true);
  expect(budget.isClosedFor("a")).toBe(false);
  const waiting = bodyOf(budget, "b").charge(60, never) as Promise<void>;
  waiting.catch(() => {});
  expect([budget.isClosedFor("a"), budget.isClosedFor("b")]).toEqual([true, false]);
});
