import { expect, test } from "vitest";
import { ByteBudget } from "../../src/http/byte-budget.ts";

const never = new AbortController().signal;

/** Creates a budget of 100 bytes, where a body waits for at most 50 ms. */
function createBudget(totalBytes = 100, maxWaitMs = 50): ByteBudget {
  return new ByteBudget({ totalBytes, maxWaitMs });
}

test("bytes are charged at once while there is room, and freed once", () => {
  const budget = createBudget();
  const [body, other] = [budget.open("a"), budget.open("b")];
  expect(body.charge(30, never)).toBe(true);
  expect(body.charge(20, never)).toBe(true);
  expect(other.charge(50, never)).toBe(true);
  expect(budget.usedBytes).toBe(100);
  body.release();
  body.release();
  expect(budget.usedBytes).toBe(50);
});

test("a body without room waits until another is released", async () => {
  const budget = createBudget(100, 10_000);
  const [first, second] = [budget.open("a"), budget.open("b")];
  expect(first.charge(50, never)).toBe(true);
  expect(second.charge(40, never)).toBe(true);
  first.complete();
  const waiting = budget.open("c").charge(30, never);
  expect(budget.waiting).toBe(1);
  first.release();
  await waiting;
  expect(budget.usedBytes).toBe(70);
});

test("a user gets half of the budget, and others the rest", async () => {
  const budget = createBudget(100, 10_000);
  const [one, more] = [budget.open("a"), budget.open("a")];
  expect(one.charge(40, never)).toBe(true);
  one.complete();
  const waiting = more.charge(20, never);
  expect(waiting).toBeInstanceOf(Promise);
  expect(budget.open("b").charge(50, never)).toBe(true);
  one.release();
  await waiting;
  expect(budget.usedBytes).toBe(70);
});

test.each([
  ["of all", ["a", "b", "c", "d"]],
  ["of a user", ["a", "a", "a", "a"]],
])(
  "the oldest unfinished body %s proceeds beyond the limit while no finished one will free memory",
  async (_, users) => {
    const budget = createBudget(users[0] === users[1] ? 200 : 100, 10_000);
    const [finished, oldest, newer] = users.map((user) => budget.open(user));
    expect(finished!.charge(20, never)).toBe(true);
    finished!.complete();
    expect(oldest!.charge(40, never)).toBe(true);
    expect(newer!.charge(40, never)).toBe(true);
    const waiting = [newer!.charge(30, never), oldest!.charge(30, never)];
    expect(budget.waiting).toBe(2);
    finished!.release();
    await waiting[1];
    expect([budget.waiting, budget.usedBytes]).toEqual([1, 110]);
    oldest!.complete();
    expect(budget.waiting).toBe(1);
    oldest!.release();
    await waiting[0];
    expect(budget.usedBytes).toBe(70);
  },
);

test("a body that waits for too long is rejected with tooManyInFlight if its user has its half, else overloaded", async () => {
  const budget = createBudget();
  for (const user of ["a", "b"]) {
    const body = budget.open(user);
    expect(body.charge(50, never)).toBe(true);
    body.complete();
  }
  await expect(budget.open("a").charge(20, never)).rejects.toMatchObject({ kind: "tooManyInFlight" });
  await expect(budget.open("c").charge(20, never)).rejects.toMatchObject({ kind: "overloaded" });
});

test("a body may wait for longer than others", async () => {
  const budget = createBudget(100, 10);
  const held = budget.open("a");
  expect(held.charge(50, never)).toBe(true);
  held.complete();
  const waiting = budget.open("a", 10_000).charge(20, never);
  await expect(budget.open("a").charge(20, never)).rejects.toMatchObject({ kind: "tooManyInFlight" });
  held.release();
  await waiting;
  expect(budget.usedBytes).toBe(20);
});

test("a cancelled charge leaves nothing behind", async () => {
  const budget = createBudget(100, 10_000);
  const [first, second] = [budget.open("a"), budget.open("a")];
  expect(first.charge(50, never)).toBe(true);
  const caller = new AbortController();
  const waiting = second.charge(10, caller.signal);
  caller.abort(new Error("cancelled"));
  await expect(waiting).rejects.toThrow("cancelled");
  second.release();
  expect([budget.waiting, budget.usedBytes]).toEqual([0, 50]);
});

test("a released body charges nothing more", async () => {
  const budget = createBudget(100, 10_000);
  const [first, second] = [budget.open("a"), budget.open("a")];
  expect(first.charge(50, never)).toBe(true);
  const waiting = second.charge(10, never);
  second.release();
  await expect(waiting).rejects.toThrow("ended");
  await expect(second.charge(10, never)).rejects.toThrow("ended");
  expect([budget.waiting, budget.usedBytes]).toEqual([0, 50]);
});

test("the budget is closed for a user that has used up its half while bodies wait", () => {
  const budget = createBudget(100, 10_000);
  expect(budget.open("a").charge(50, never)).toBe(true);
  expect(budget.open("b").charge(40, never)).toBe(true);
  expect(budget.isClosedFor("a")).toBe(false);
  const waiting = budget.open("b").charge(60, never) as Promise<void>;
  waiting.catch(() => {});
  expect([budget.isClosedFor("a"), budget.isClosedFor("b")]).toEqual([true, false]);
});
