import { type ChildProcess, fork } from "node:child_process";
import { on } from "node:events";
import { quantile } from "../../tools/support/statistics.ts";
import {
  type ClosedLoop,
  type GeneratorCost,
  type GeneratorMessage,
  type Load,
  OK,
  type Sample,
} from "./load.ts";

/** The outcome of a load. */
export interface LoadResult extends GeneratorCost {
  /** When the load began, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly samples: readonly Sample[];
}

export interface LoadOptions {
  /** Called with new samples while the load runs. */
  readonly onSamples?: (samples: readonly Sample[]) => void;
  /** Stops the load early. The result then has the samples so far. */
  readonly signal?: AbortSignal;
}

/** Generator processes that are kept for the next load, because a warm one uses less CPU. */
const idleGenerators: ChildProcess[] = [];

/** Runs a load in a separate process, so that work in this process does not delay requests. */
export async function runLoad(load: Load, options: LoadOptions = {}): Promise<LoadResult> {
  const generator =
    idleGenerators.pop() ?? fork(new URL("./generator.js", import.meta.url), { execArgv: [] });
  generator.ref();
  generator.channel!.ref();
  const result = await runIn(generator, load, options);
  // An idle generator does not keep this process alive, and exits with it.
  generator.unref();
  generator.channel!.unref();
  idleGenerators.push(generator);
  return result;
}

async function runIn(
  generator: ChildProcess,
  load: Load,
  { onSamples, signal }: LoadOptions,
): Promise<LoadResult> {
  const samples: Sample[] = [];
  let startedAt = 0;
  const stop = () => generator.send("stop");
  signal?.addEventListener("abort", stop);
  const messages = on(generator, "message", { close: ["exit"] }) as AsyncIterable<[GeneratorMessage]>;
  generator.send(load);
  if (signal?.aborted) stop();
  try {
    for await (const [message] of messages) {
      if ("cpuMs" in message) return { startedAt, samples, ...message };
      if ("startedAt" in message) startedAt = message.startedAt;
      else {
        samples.push(...message.samples);
        onSamples?.(message.samples);
      }
    }
    throw new Error("The load generator exited.");
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

/** Throughput and latency of a closed loop. */
export interface Speed extends GeneratorCost {
  readonly perSecond: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** How many requests were sent, including the warm-up. What they cost the generator includes the warm-up too. */
  readonly requests: number;
}

/** The first part of every measurement. It is not counted: connections are opened and queues fill. */
export const WARM_UP_SECONDS = 1;

/** Measures a closed loop. Throws if a request fails, because the latency of a rejection says nothing about work. */
export async function measureSpeed(
  load: Omit<Load, "arrivals">,
  { inFlight, seconds }: ClosedLoop & { readonly seconds: number },
): Promise<Speed> {
  const arrivals = { inFlight, seconds: WARM_UP_SECONDS + seconds };
  const { samples, startedAt: _, ...cost } = await runLoad({ ...load, arrivals });
  const failed = samples.find(({ code }) => code !== OK);
  if (failed) throw new Error(`A request failed with ${failed.code}; every request must succeed here.`);
  const [from, to] = [1000 * WARM_UP_SECONDS, 1000 * (WARM_UP_SECONDS + seconds)];
  const counted = samples.filter((sample) => doneMs(sample) >= from && doneMs(sample) < to);
  if (counted.length === 0) throw new Error(`No request completed within ${seconds} s.`);
  return {
    perSecond: counted.length / seconds,
    ...latencyPercentiles(counted),
    requests: samples.length,
    ...cost,
  };
}

/** When a request was done, in milliseconds since the load began. */
export function doneMs({ dueMs, latencyMs }: Sample): number {
  return dueMs + latencyMs;
}

/** Latency percentiles in milliseconds. */
export function latencyPercentiles(samples: readonly Sample[]): Pick<Speed, "p50" | "p95" | "p99"> {
  const latencies = samples.map(({ latencyMs }) => latencyMs);
  return { p50: quantile(latencies, 0.5), p95: quantile(latencies, 0.95), p99: quantile(latencies, 0.99) };
}
