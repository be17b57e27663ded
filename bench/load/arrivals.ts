import { setTimeout as sleep } from "node:timers/promises";
import { createRandom } from "../../tools/support/random.ts";
import type { ClosedLoop, OpenLoop, Phase } from "./load.ts";

/** Sends one request that was due at a moment of `performance.now()`, and never throws. */
export type SendOne = (due: number) => Promise<void>;

/** Keeps so many requests under way until time or number is reached, or the signal is aborted. */
export async function runClosedLoop(loop: ClosedLoop, send: SendOne, signal: AbortSignal): Promise<void> {
  const end = "seconds" in loop ? performance.now() + 1000 * loop.seconds : Number.POSITIVE_INFINITY;
  let left = "requests" in loop ? loop.requests : Number.POSITIVE_INFINITY;
  const call = async () => {
    while (left-- > 0 && performance.now() < end && !signal.aborted) await send(performance.now());
  };
  await Promise.all(Array.from({ length: loop.inFlight }, call));
}

/** Sends at the moments of the phases, whatever becomes of earlier requests, and waits for all answers. */
export async function runOpenLoop({ phases }: OpenLoop, send: SendOne, signal: AbortSignal): Promise<void> {
  const start = performance.now();
  const underWay: Promise<void>[] = [];
  for (const dueMs of momentsOf(phases)) {
    const due = start + dueMs;
    const early = due - performance.now();
    if (early > 0) await sleep(early);
    if (signal.aborted) break;
    underWay.push(send(due));
  }
  await Promise.all(underWay);
}

const SEED = 1;

/** When the requests of the phases are due, in milliseconds from the first phase's beginning. */
export function* momentsOf(phases: readonly Phase[]): Generator<number> {
  const random = createRandom(SEED);
  let beginMs = 0;
  for (const { perSecond, seconds } of phases) {
    const endMs = beginMs + 1000 * seconds;
    const pauseMs = () => (-Math.log(1 - random()) * 1000) / perSecond;
    for (let dueMs = beginMs + pauseMs(); dueMs < endMs; dueMs += pauseMs()) yield dueMs;
    beginMs = endMs;
  }
}
