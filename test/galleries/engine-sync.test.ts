import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { EngineSync } from "../../src/galleries/engine-sync.ts";

/** Starts synchronizations that a test ends, one after another. */
function startSync() {
  const attempts: ((error?: Error) => void)[] = [];
  const events: string[] = [];
  const engineSync = new EngineSync(
    (signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        attempts.push((error) => (error ? reject(error) : resolve()));
      }),
    {
      onOutage: (cause) => void events.push(String(cause)),
      onRecovery: () => void events.push("recovery"),
    },
  );
  onTestFinished(() => engineSync.close());
  const end = async (attempt: number, error?: Error) => {
    await expect.poll(() => attempts.length).toBe(attempt);
    attempts[attempt - 1]!(error);
  };
  return { engineSync, events, end, attempts };
}

test("a wait ends with a synchronization that began after it", async () => {
  const { engineSync, end, attempts } = startSync();
  let isDone: boolean | undefined;
  const waiting = engineSync.wait(60_000).then((result) => {
    isDone = result;
  });
  await end(1);
  // The first one may have begun before the change.
  await expect.poll(() => attempts.length).toBe(2);
  expect(isDone).toBeUndefined();
  await end(2);
  await waiting;
  expect(isDone).toBe(true);
});

test("a wait starts a synchronization at once, and those of the same moment share it", async () => {
  const { engineSync, end, attempts } = startSync();
  await end(1);
  await sleep(10);
  const waiting = Promise.all(Array.from({ length: 5 }, () => engineSync.wait(60_000)));
  await end(2);
  expect(await waiting).toEqual(Array(5).fill(true));
  expect(attempts).toHaveLength(2);
});

test("a wait ends when its time is over, or when the engine fails, and does not wait while it fails", async () => {
  const { engineSync, end, events, attempts } = startSync();
  expect(await engineSync.wait(1)).toBe(false);
  const waiting = engineSync.wait(60_000);
  await end(1, new Error("away"));
  expect(await waiting).toBe(false);
  expect(await engineSync.wait(60_000)).toBe(false);
  await end(2, new Error("away"));
  expect(events).toEqual(["Error: away"]);
  await end(3);
  await expect.poll(() => events).toEqual(["Error: away", "recovery"]);
  const next = engineSync.wait(60_000);
  await end(4);
  expect(await next).toBe(true);
  expect(attempts).toHaveLength(4);
});

test("it goes on every second without anyone who waits", async () => {
  const { end, attempts } = startSync();
  await end(1);
  await end(2);
  await end(3);
  expect(attempts).toHaveLength(3);
});

test("closing it ends the synchronization without an outage", async () => {
  const { engineSync, events, attempts } = startSync();
  await expect.poll(() => attempts.length).toBe(1);
  await engineSync.close();
  expect([events, attempts.length]).toEqual([[], 1]);
});
