import { type ChildProcess, fork } from "node:child_process";
import { on } from "node:events";
import { quantile } from "../../tools/support/statistics.ts";
import { type ClosedLoop, type Load, OK, type Sample, type Told } from "./load.ts";

/** What a load met with. */
export interface LoadResult {
  /** When it began, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly samples: readonly Sample[];
  /** What the generator took of processors. */
  readonly cpuMs: number;
}

/** Who follows a load while it runs, and may end it. */
export interface LoadWatch {
  readonly onSamples?: (samples: readonly Sample[]) => void;
  readonly signal?: AbortSignal;
}

/** Processes that wait for the next load: one that has sent before takes less of the machine. */
const idle: ChildProcess[] = [];

/** Sends a load from a process of its own, so that nothing here delays it. */
export async function runLoad(load: Load, watch: LoadWatch = {}): Promise<LoadResult> {
  const generator = idle.pop() ?? fork(new URL("./generator.js", import.meta.url), { execArgv: [] });
  generator.ref();
  generator.channel!.ref();
  const result = await sendFrom(generator, load, watch);
  // One that waits does not keep this process from ending, and ends with it.
  generator.unref();
  generator.channel!.unref();
  idle.push(generator);
  return result;
}

async function sendFrom(
  generator: ChildProcess,
  load: Load,
  { onSamples, signal }: LoadWatch,
): Promise<LoadResult> {
  const samples: Sample[] = [];
  let startedAt = 0;
  const stop = () => generator.send("stop");
  signal?.addEventListener("abort", stop);
  const messages = on(generator, "message", { close: ["exit"] }) as AsyncIterable<[Told]>;
  generator.send(load);
  if (signal?.aborted) stop();
  try {
    for await (const [told] of messages) {
      if ("cpuMs" in told) return { startedAt, samples, cpuMs: told.cpuMs };
      if ("startedAt" in told) startedAt = told.startedAt;
      else {
        samples.push(...told.samples);
        onSamples?.(told.samples);
      }
    }
    throw new Error("the load generator died");
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

/** How fast answers came, and how late. */
export interface Speed {
  readonly perSecond: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** How many were sent, those of the warm-up among them, and what they took of processors in the generator. */
  readonly requests: number;
  readonly cpuMs: number;
}

/** The first part of every measurement, which does not count: connections are made, queues fill. */
export const WARM_UP_SECONDS = 1;

/** Measures a closed loop in which every request must succeed: the time of a refusal is no measure of work. */
export async function measureSpeed(
  load: Omit<Load, "arrivals">,
  { inFlight, seconds }: ClosedLoop & { readonly seconds: number },
): Promise<Speed> {
  const arrivals = { inFlight, seconds: WARM_UP_SECONDS + seconds };
  const { samples, cpuMs } = await runLoad({ ...load, arrivals });
  const failed = samples.find(({ code }) => code !== OK);
  if (failed) throw new Error(`a request failed with ${failed.code} where none may`);
  const [from, to] = [1000 * WARM_UP_SECONDS, 1000 * (WARM_UP_SECONDS + seconds)];
  const counted = samples.filter(({ dueMs, tookMs }) => dueMs + tookMs >= from && dueMs + tookMs < to);
  if (counted.length === 0) throw new Error(`no request was answered in ${seconds} s`);
  return {
    perSecond: counted.length / seconds,
    ...percentilesOf(counted),
    requests: samples.length,
    cpuMs,
  };
}

/** Half, 95 and 99 of a hundred answers took no longer than so many milliseconds. */
export function percentilesOf(samples: readonly Sample[]): Pick<Speed, "p50" | "p95" | "p99"> {
  const times = samples.map(({ tookMs }) => tookMs);
  return { p50: quantile(times, 0.5), p95: quantile(times, 0.95), p99: quantile(times, 0.99) };
}
