import { setTimeout as sleep } from "node:timers/promises";
import type { AnalyzerOptions } from "../core/index.ts";
import { deserializeError } from "./worker-messages.ts";
import { WorkerProcess } from "./worker-process.ts";

/** A worker that exited unexpectedly, or that could not be restarted. */
export interface WorkerLoss {
  /** The exit code, the signal or the error, or why the worker was stuck. */
  readonly cause: string;
  /** Number of restarts before this loss. */
  readonly restarts: number;
}

/** Settings of a supervisor. */
export interface SupervisorOptions {
  /** Number of workers. */
  readonly size: number;
  readonly analyzer: AnalyzerOptions;
  /** Called with each worker that is ready for jobs. */
  readonly onReady: (worker: WorkerProcess) => void;
  /** Called when such a worker has exited, for whatever reason. */
  readonly onExit: (worker: WorkerProcess) => void;
  readonly onLoss: (loss: WorkerLoss) => void;
  /** Called when a worker is ready in place of a lost one. */
  readonly onReplacement: () => void;
  /** Gets what workers print on standard error. */
  readonly onOutput: (text: string) => void;
  /** How long a worker may be stuck with a job. After that it is replaced. */
  readonly stuckAfterMs?: number | undefined;
}

/** Keeps a number of worker processes running. */
export interface WorkerSupervisor {
  /** The identity of the workers' networks. */
  readonly identity: string;
  /** Workers that are ready for jobs. */
  readonly workers: ReadonlySet<WorkerProcess>;
  /** Number of times that a worker was started in place of a lost one. */
  readonly restarts: number;
  /** Stops replacing workers that exit. */
  stopRestarting(): void;
  /** Stops all workers and resolves when they have exited. */
  close(): Promise<void>;
}

/** Delay before another attempt to start a worker; doubled each time up to the maximum. */
const RESTART_DELAY_MS = 100;
const MAX_RESTART_DELAY_MS = 5000;

/**
 * How much CPU time one job may use with images of the default limit. The most expensive job that was measured, one part
 * of a progressive JPEG of 40 megapixels with 300 faces, uses 1.8 s.
 */
const MAX_JOB_CPU_MS = 15_000;
const DEFAULT_MAX_PIXELS = 40_000_000;

/** A worker that takes longer to start is stuck. */
const START_TIMEOUT_MS = 60_000;

interface StartedWorker {
  readonly worker: WorkerProcess;
  readonly identity: string;
}

/**
 * Starts the workers and waits until each has loaded and tested its networks. If one cannot, throws its error after
 * all workers have exited. Workers that exit later are replaced.
 */
export async function superviseWorkers(options: SupervisorOptions): Promise<WorkerSupervisor> {
  const first = await startAll(options);
  const workers = new Set<WorkerProcess>();
  const closing = new AbortController();
  let restarts = 0;

  /** Keeps one worker running until the supervisor closes. */
  async function supervise(started: StartedWorker): Promise<void> {
    for (let next: StartedWorker | undefined = started; next; next = await startReplacement()) {
      const { worker } = next;
      workers.add(worker);
      options.onReady(worker);
      if (closing.signal.aborted) await worker.stop();
      reportLoss(await worker.exited);
      workers.delete(worker);
      options.onExit(worker);
    }
  }

  function reportLoss(cause: string): void {
    if (!closing.signal.aborted) options.onLoss({ cause, restarts });
  }

  /** Tries to start a worker until it succeeds. Returns undefined once the supervisor closes. */
  async function startReplacement(): Promise<StartedWorker | undefined> {
    for (let delayMs = RESTART_DELAY_MS; !closing.signal.aborted; delayMs *= 2) {
      restarts++;
      const started = await startWorker(options).catch((error: Error) => reportLoss(error.message));
      if (started) {
        if (!closing.signal.aborted) options.onReplacement();
        return started;
      }
      const boundedMs = Math.min(delayMs, MAX_RESTART_DELAY_MS);
      await sleep(boundedMs, undefined, { signal: closing.signal }).catch(() => {});
    }
    return undefined;
  }

  const supervised = first.map(supervise);
  return {
    identity: first[0]!.identity,
    workers,
    get restarts() {
      return restarts;
    },
    stopRestarting: () => closing.abort(),
    async close() {
      closing.abort();
      await Promise.all([...workers].map((worker) => worker.stop()));
      await Promise.all(supervised);
    },
  };
}

async function startAll(options: SupervisorOptions): Promise<StartedWorker[]> {
  const starts = await Promise.allSettled(Array.from({ length: options.size }, () => startWorker(options)));
  const started = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
  const failed = starts.find((start) => start.status === "rejected");
  if (!failed) return started;
  await Promise.all(started.map(({ worker }) => worker.stop()));
  throw failed.reason;
}

/** Starts a worker and waits until it has tested its networks. If it cannot, throws after the worker has exited. */
async function startWorker({ analyzer, ...options }: SupervisorOptions): Promise<StartedWorker> {
  const maxPixels = Math.max(DEFAULT_MAX_PIXELS, analyzer.limits?.maxPixels ?? 0);
  const maxJobCpuMs = MAX_JOB_CPU_MS * (maxPixels / DEFAULT_MAX_PIXELS);
  const worker = new WorkerProcess({ ...options, maxJobCpuMs });
  try {
    const signal = AbortSignal.timeout(START_TIMEOUT_MS);
    const result = await worker.run({ type: "open", options: analyzer }, signal).result;
    if (!result.ok) throw deserializeError(result.error);
    return { worker, identity: result.value as string };
  } catch (error) {
    await worker.stop();
    throw error;
  }
}
