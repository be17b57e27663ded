import { setTimeout as sleep } from "node:timers/promises";

const INTERVAL_MS = 20;

/** Polls a value until it meets a condition or the timeout passes. Returns the last value in both cases. */
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
