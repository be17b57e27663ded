import { setTimeout as sleep } from "node:timers/promises";
import { createRandom } from "../../tools/support/random.ts";
import type { ClosedLoop, OpenLoop, Phase } from "./load.ts";

/** Sends one request that was due at a time of `performance.now()`. Never rejects. */
export type SendOne = (due: number) => Promise<void>;

const SEED = 1;

/** Keeps `inFlight` requests in flight until the time or the number of requests is reached, or the signal aborts. */
export async function runClosedLoop(loop: ClosedLoop, send: SendOne, signal: AbortSignal): Promise<void> {
  const end = "seconds" in loop ? performance.now() + 1000 * loop.seconds : Number.POSITIVE_INFINITY;
  let left = "requests" in loop ? loop.requests : Number.POSITIVE_INFINITY;
  const runClient = async () => {
    while (left-- > 0 && performance.now() < end && !signal.aborted) await send(performance.now());
  };
  await Promise.all(Array.from({ length: loop.inFlight }, runClient));
}

/** Sends each request at its arrival time, whether or not earlier ones are done. Waits for all responses. */
export async function runOpenLoop({ phases }: OpenLoop, send: SendOne, signal: AbortSignal): Promise<void> {
  const start = performance.now();
  const inFlight: Promise<void>[] = [];
  for (const dueMs of arrivalTimes(phases)) {
    const due = start + dueMs;
    const waitMs = due - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    if (signal.aborted) break;
    inFlight.push(send(due));
  }
  await Promise.all(inFlight);
}

/** Arrival times of a Poisson process, in milliseconds since the first phase began. The seed is fixed. */
export function* arrivalTimes(phases: readonly Phase[]): Generator<number> {
  const random = createRandom(SEED);
  let startMs = 0;
  for (const { perSecond, seconds } of phases) {
    const endMs = startMs + 1000 * seconds;
    const intervalMs = () => (-Math.log(1 - random()) * 1000) / perSecond;
    for (let dueMs = startMs + intervalMs(); dueMs < endMs; dueMs += intervalMs()) yield dueMs;
    startMs = endMs;
  }
}
