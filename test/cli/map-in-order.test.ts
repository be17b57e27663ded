import { setImmediate as tick } from "node:timers/promises";
import { expect, test } from "vitest";
import { mapInOrder } from "../../src/cli/map-in-order.ts";

/** Yields numbers and counts how many were read. */
async function* countTo(count: number, onRead: (i: number) => void): AsyncGenerator<number> {
  for (let i = 0; i < count; i++) {
    onRead(i);
    yield i;
  }
}

test("results have the order of the items, however long each takes", async () => {
  let running = 0;
  let maxRunning = 0;
  const results: number[] = [];
  const limits = { concurrency: 4, maxPending: 10 };
  for await (const result of mapInOrder(
    countTo(100, () => {}),
    limits,
    async (item) => {
      maxRunning = Math.max(maxRunning, ++running);
      for (let i = 0; i < (item * 7) % 11; i++) await tick();
      running--;
      return item;
    },
  ))
    results.push(result);
  expect(results).toEqual(Array.from({ length: 100 }, (_, i) => i));
  expect(maxRunning).toBe(4);
});

test("a slow first item holds up the others only until the buffer is full", async () => {
  let read = 0;
  const ended: number[] = [];
  let endFirst = () => {};
  const first = new Promise<void>((resolve) => {
    endFirst = resolve;
  });
  const results = mapInOrder(
    countTo(100, () => read++),
    { concurrency: 2, maxPending: 5 },
    async (item) => {
      if (item === 0) await first;
      ended.push(item);
      return item;
    },
  );
  const next = results.next();
  for (let i = 0; i < 50; i++) await tick();
  expect(ended).toEqual([1, 2, 3, 4]);
  expect(read).toBe(5);
  endFirst();
  expect((await next).value).toBe(0);
  const rest: number[] = [];
  for await (const result of results) rest.push(result);
  expect(rest).toHaveLength(99);
});

test("no more items are read than are consumed and pending", async () => {
  let read = 0;
  const results = mapInOrder(
    countTo(1000, () => read++),
    { concurrency: 2, maxPending: 3 },
    async (item) => item,
  );
  for (let i = 0; i < 10; i++) await results.next();
  await results.return(undefined);
  expect(read).toBeLessThanOrEqual(13);
});
