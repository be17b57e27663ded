import {
  type Analysis,
  type AnalyzeOptions,
  type Analyzer,
  type AnalyzerOptions,
  analyzeInParts,
  checkBoxCount,
  type EmbeddedFace,
  type Embedding,
  type EmbedOptions,
} from "../core/index.ts";
import { countCpus } from "./cpu-count.ts";
import { Queue, type Rejection } from "./queue.ts";
import {
  deserializeError,
  type Job,
  type Operation,
  type Results,
  type TaskResult,
  unpackAnalysis,
} from "./worker-messages.ts";
import type { WorkerProcess } from "./worker-process.ts";
import { superviseWorkers, type WorkerLoss } from "./worker-supervisor.ts";

export type { Rejection } from "./queue.ts";
export { QueueError, type QueueErrorKind } from "./queue-error.ts";
export type { WorkerLoss } from "./worker-supervisor.ts";

/** Settings of a pool. */
export interface PoolOptions extends AnalyzerOptions {
  /** Number of worker processes. Each works on one image at a time. By default there is one for each CPU core. */
  readonly workers?: number | undefined;
  /** Calls with a longer estimated wait for a worker are rejected. 1,000 ms by default. */
  readonly maxQueueWaitMs?: number | undefined;
  /** Called when a worker exits unexpectedly or cannot be restarted. */
  readonly onWorkerLoss?: ((loss: WorkerLoss) => void) | undefined;
  /** Called when a lost worker has been replaced. */
  readonly onWorkerReplacement?: (() => void) | undefined;
  /** Gets what workers print on standard error, such as warnings of native code. Printed by default. */
  readonly onWorkerOutput?: ((text: string) => void) | undefined;
  /** How long a worker may be stuck with a job before it is replaced. 10 seconds by default. Linux only. */
  readonly stuckAfterMs?: number | undefined;
}

/** Options of a queued call. */
export interface QueueOptions {
  /** The user on whose behalf the call is made. Callers are served in turn. */
  readonly caller?: string | undefined;
  /** When the result becomes useless, by `performance.now()`. A call that would wait longer is rejected. */
  readonly deadlineMs?: number | undefined;
}

/** An analyzer with a queue in front of it. */
export interface QueuedAnalyzer extends Analyzer {
  analyze(image: Uint8Array, options?: AnalyzeOptions & QueueOptions): Promise<Analysis>;
  embed(image: Uint8Array, options?: EmbedOptions & QueueOptions): Promise<EmbeddedFace>;
}

/**
 * An analyzer that works in other processes, so that neither inference nor a crash in native code stops this one.
 * Calls throw what an analyzer throws, and QueueError.
 */
export interface Pool extends QueuedAnalyzer {
  /** Number of workers that there should be. */
  readonly size: number;
  /** Number of calls that wait for a worker. */
  readonly waiting: number;
  /** Number of busy workers, including those that still end a cancelled call. */
  readonly busy: number;
  /** Number of times that a worker was started in place of a lost one. */
  readonly restarts: number;
  /**
   * Returns why a call of this caller would be rejected now because of overload, or undefined if it would be accepted.
   * The deadline is by `performance.now()`.
   */
  rejectionFor(caller: string, deadlineMs?: number): Rejection | undefined;
  /** Process ids of the workers that are ready. */
  readonly pids: readonly number[];
  /** Rejects new and waiting calls, waits for running ones, then stops the workers. */
  close(): Promise<void>;
}

const DEFAULT_MAX_QUEUE_WAIT_MS = 1000;

/**
 * Starts the workers and waits until each has loaded and tested its networks. If one cannot, throws its error and
 * leaves no process behind. A worker that is lost later is replaced while calls wait.
 */
export async function openPool({
  workers: size = countCpus(),
  maxQueueWaitMs = DEFAULT_MAX_QUEUE_WAIT_MS,
  onWorkerLoss = () => {},
  onWorkerReplacement = () => {},
  onWorkerOutput = (text) => process.stderr.write(text),
  stuckAfterMs,
  ...analyzer
}: PoolOptions = {}): Promise<Pool> {
  requirePositiveInteger("workers", size);
  requirePositiveInteger("maxQueueWaitMs", maxQueueWaitMs);
  const queue = new Queue<WorkerProcess>(maxQueueWaitMs);
  const supervisor = await superviseWorkers({
    size,
    analyzer,
    onReady: (worker) => queue.addWorker(worker),
    onExit: (worker) => queue.removeWorker(worker),
    onLoss: onWorkerLoss,
    onReplacement: onWorkerReplacement,
    onOutput: onWorkerOutput,
    stuckAfterMs,
  });

  /** Runs a call, or one part of it, on a worker. */
  async function run<Name extends Operation>(
    job: Omit<Job<Name>, "options">,
    options: AnalyzeOptions & EmbedOptions & QueueOptions = {},
  ): Promise<Results[Name]> {
    const { signal, onStage, caller, deadlineMs, ...jobOptions } = options;
    checkBoxCount(job.operation, options.boxes);

    /** Waits for a worker and runs the job on it. If the worker is stuck, runs it on another one, once. */
    async function execute(isContinued: boolean, isRetry = false): Promise<TaskResult> {
      const queuedMs = performance.now();
      const worker = await queue.acquire({ caller, deadlineMs, signal, isContinued });
      const waitMs = performance.now() - queuedMs;
      const { result, finished } = worker.run({ type: "run", job: { ...job, options: jobOptions } }, signal);
      finished
        .then(() => worker.isAlive && queue.release(worker))
        // The queue would never use this worker again, so replace it.
        .catch(() => worker.stop());
      try {
        return await result;
      } catch (error) {
        // Once: the job itself may be the cause.
        if (isRetry || !worker.isStuck || signal?.aborted) throw error;
        return await execute(true, true);
      } finally {
        onStage?.("queue", waitMs);
      }
    }

    const result = await execute(job.targets !== undefined);
    for (const stage of result.stages) onStage?.(...stage);
    if (!result.ok) throw deserializeError(result.error);
    return result.value as Results[Name];
  }

  return {
    identity: supervisor.identity,
    async analyze(image, options) {
      // The call queues again before each part, so that other callers are served between.
      const analysis = await analyzeInParts(async (targets) =>
        unpackAnalysis(await run({ operation: "analyze", image, targets }, options)),
      );
      return { ...analysis, faces: analysis.faces.map(copyEmbedding) };
    },
    async embed(image, options) {
      return copyEmbedding(await run({ operation: "embed", image }, options));
    },
    async close() {
      supervisor.stopRestarting();
      await queue.close();
      await supervisor.close();
    },
    size,
    rejectionFor: (caller, deadlineMs) => queue.rejectionFor(caller, deadlineMs),
    get waiting() {
      return queue.waiting;
    },
    get busy() {
      return queue.busy;
    },
    get restarts() {
      return supervisor.restarts;
    },
    get pids() {
      return Array.from(supervisor.workers, ({ pid }) => pid!);
    },
  };
}

function requirePositiveInteger(name: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return;
  throw new RangeError(`${name} must be a whole number of at least 1, not ${value}.`);
}

/** Copies an embedding out of the message in which it came, so that it does not keep the message's memory alive. */
function copyEmbedding<T extends { readonly embedding?: Embedding }>(face: T): T {
  return face.embedding ? { ...face, embedding: face.embedding.slice() } : face;
}
