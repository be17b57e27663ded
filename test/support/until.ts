import { setTimeout as sleep } from "node:timers/promises";

const INTERVAL_MS = 20;

/** Reads a value until it fulfils a condition or the time is over; gives the last value in either case. */
export async function until<T>(
  read: () => T | Promise<T>,
  isFulfilled: (value: T) => boolean,
  timeoutMs: number,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (isFulfilled(value) || performance.now() >= deadline) return value;
    await sleep(INTERVAL_MS);
  }
}
