import { fork } from "node:child_process";
import { quantile } from "../quantiles.ts";
import { type ClosedLoop, type Load, OK, type Sample, type Told } from "./load.ts";

/** What a load met with. */
export interface LoadResult {
  /** When it began, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly samples: readonly Sample[];
}

/** Who follows a load while it runs, and may end it. */
export interface LoadWatch {
  readonly onSamples?: (samples: readonly Sample[]) => void;
  readonly signal?: AbortSignal;
}

/** Sends a load from a process of its own, so that nothing here delays it. */
export async function runLoad(load: Load, { onSamples, signal }: LoadWatch = {}): Promise<LoadResult> {
  const generator = fork(new URL("./generator.js", import.meta.url), { execArgv: [] });
  const samples: Sample[] = [];
  let startedAt = 0;
  const stop = () => generator.send("stop");
  signal?.addEventListener("abort", stop);
  try {
    await new Promise<void>((resolve, reject) => {
      generator.on("message", (told: Told) => {
        if ("startedAt" in told) startedAt = told.startedAt;
        else if ("done" in told) resolve();
        else {
          samples.push(...told.samples);
          onSamples?.(told.samples);
        }
      });
      generator.once("exit", () => reject(new Error("the load generator died")));
      generator.send(load);
      if (signal?.aborted) stop();
    });
  } finally {
    signal?.removeEventListener("abort", stop);
    if (generator.connected) generator.disconnect();
  }
  return { startedAt, samples };
}

/** How fast answers came, and how late. */
export interface Speed {
  readonly perSecond: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** The first part of every measurement, which does not count: connections are made, queues fill. */
const WARM_UP_SECONDS = 1;

/** Measures a closed loop in which every request must succeed: the time of a refusal is no measure of work. */
export async function measureSpeed(
  load: Omit<Load, "arrivals">,
  { inFlight, seconds }: ClosedLoop & { readonly seconds: number },
): Promise<Speed> {
  const arrivals = { inFlight, seconds: WARM_UP_SECONDS + seconds };
  const { samples } = await runLoad({ ...load, arrivals });
  const failed = samples.find(({ code }) => code !== OK);
  if (failed) throw new Error(`a request failed with ${failed.code} where none may`);
  const [from, to] = [1000 * WARM_UP_SECONDS, 1000 * (WARM_UP_SECONDS + seconds)];
  const counted = samples.filter(({ dueMs, tookMs }) => dueMs + tookMs >= from && dueMs + tookMs < to);
  if (counted.length === 0) throw new Error(`no request was answered in ${seconds} s`);
  return { perSecond: counted.length / seconds, ...percentilesOf(counted) };
}

/** Half, 95 and 99 of a hundred answers took no longer than so many milliseconds. */
export function percentilesOf(samples: readonly Sample[]): Omit<Speed, "perSecond"> {
  const times = samples.map(({ tookMs }) => tookMs);
  return { p50: quantile(times, 0.5), p95: quantile(times, 0.95), p99: quantile(times, 0.99) };
}
