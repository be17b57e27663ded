import { setTimeout as delay } from "node:timers/promises";
import { type QueuedAnalyzer, QueueError } from "../workers/pool.ts";

/**
 * Wraps an analyzer for the images of streams: calls that the queue rejects or displaces because of overload wait and try
 * again until their deadline, so that a stream becomes slower and does not fail.
 */
export function createPatientAnalyzer(analyzer: QueuedAnalyzer): QueuedAnalyzer {
  return {
    identity: analyzer.identity,
    analyze: (image, options) => retryOverloaded(() => analyzer.analyze(image, options), options),
    embed: (image, options) => retryOverloaded(() => analyzer.embed(image, options), options),
    close: () => analyzer.close(),
  };
}

interface RetryOptions {
  readonly signal?: AbortSignal | undefined;
  /** By `performance.now()`. */
  readonly deadlineMs?: number | undefined;
}

async function retryOverloaded<T>(
  call: () => Promise<T>,
  { signal, deadlineMs = Number.POSITIVE_INFINITY }: RetryOptions = {},
): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const waitMs = error instanceof QueueError ? error.retryAfterMs : undefined;
      if (waitMs === undefined || performance.now() + waitMs > deadlineMs) throw error;
      await delay(waitMs, undefined, { signal });
    }
  }
}
