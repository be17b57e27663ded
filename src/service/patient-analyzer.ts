import { setTimeout as delay } from "node:timers/promises";
import { type QueuedAnalyzer, QueueError } from "../workers/pool.ts";

/**
 * Wraps an analyzer for the images of streams: calls that the queue rejects or displaces because of overload wait and try
 * again, so that a stream becomes slower and does not fail. They give up after `maxWaitMs` or at their deadline.
 */
export function createPatientAnalyzer(analyzer: QueuedAnalyzer, maxWaitMs: number): QueuedAnalyzer {
  const endMs = ({ deadlineMs = Number.POSITIVE_INFINITY }: RetryOptions = {}) =>
    Math.min(deadlineMs, performance.now() + maxWaitMs);
  return {
    identity: analyzer.identity,
    analyze: (image, options) =>
      retryOverloaded(() => analyzer.analyze(image, options), endMs(options), options?.signal),
    embed: (image, options) =>
      retryOverloaded(() => analyzer.embed(image, options), endMs(options), options?.signal),
    close: () => analyzer.close(),
  };
}

/** Options of a call that limit its retries. */
interface RetryOptions {
  /** By `performance.now()`. */
  readonly deadlineMs?: number | undefined;
}

async function retryOverloaded<T>(
  call: () => Promise<T>,
  endMs: number,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const waitMs = error instanceof QueueError ? error.retryAfterMs : undefined;
      if (waitMs === undefined || performance.now() + waitMs > endMs) throw error;
      await delay(waitMs, undefined, { signal });
    }
  }
}
