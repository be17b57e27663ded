import { setTimeout as sleep } from "node:timers/promises";
import { type Checkpoint, mergeAnalysis, mergeEmbedding } from "../core/partial-work.ts";
import type { Vector } from "../core/steps/embed.ts";
import { checkBoxCount } from "../core/steps/selection.ts";
import type {
  Analysis,
  AnalyzeOptions,
  Analyzer,
  AnalyzerOptions,
  CallOptions,
  Embedding,
} from "../core/types.ts";
import { type JobOptions, Queue, type Rejection } from "./queue.ts";
import {
  errorFromPlain,
  type Job,
  type Operation,
  partFromSent,
  type Reply,
  type Results,
} from "./worker-messages.ts";
import { WorkerProcess } from "./worker-process.ts";

export type { Rejection } from "./queue.ts";
export { QueueError, type QueueErrorKind } from "./queue-error.ts";

/** Settings of a pool. */
export interface PoolOptions extends AnalyzerOptions {
  /** How many processes work, each on one image at a time. */
  readonly workers: number;
  /** The longest estimated wait for a worker; calls that would wait longer are rejected. 1,000 ms by default. */
  readonly maxQueueWaitMs?: number | undefined;
  /** Is told of every worker that was lost or could not be started anew, with the cause and the count so far. */
  readonly onLoss?: ((loss: WorkerLoss) => void) | undefined;
  /** Gets what workers print on standard error, such as warnings of native code; printed here unless given. */
  readonly onOutput?: ((text: string) => void) | undefined;
}

/** Options of a call in the queue of a pool. */
export interface QueueOptions {
  /** The user on whose behalf the call is made: callers are served in turn. */
  readonly caller?: string | undefined;
  /** When the result becomes useless, by `performance.now()`: a call that would wait longer is rejected. */
  readonly deadlineMs?: number | undefined;
}

/** An analyzer whose calls may wait for each other. */
export interface QueuedAnalyzer extends Analyzer {
  analyze(image: Uint8Array, options?: AnalyzeOptions & QueueOptions): Promise<Analysis>;
  embed(image: Uint8Array, options?: CallOptions & QueueOptions): Promise<Embedding>;
}

/** A worker that ended without being told to. */
export interface WorkerLoss {
  readonly cause: string;
  /** How many were started in place of lost ones, this one's successor not yet among them. */
  readonly restarts: number;
}

/**
 * An analyzer whose work is done by other processes, so that neither inference nor a crash in native code stops
 * this one. Beside what an analyzer throws, calls throw QueueError.
 */
export interface Pool extends QueuedAnalyzer {
  /** How many workers there should be. */
  readonly size: number;
  /** How many calls wait for a worker. */
  readonly waiting: number;
  /** How many workers are at work, also on what nobody waits for any more. */
  readonly busy: number;
  /** How many times a worker was started in place of a lost one. */
  readonly restarts: number;
  /**
   * Tells whether a call of this caller would be rejected now because of overload, and when to try again; undefined
   * if it would be accepted. The deadline is by `performance.now()`.
   */
  rejectionFor(caller: string, deadlineMs?: number): Rejection | undefined;
  /** Process ids of the workers that are ready. */
  readonly pids: readonly number[];
  /** Refuses new and waiting calls, waits for running ones, then ends the workers. */
  close(): Promise<void>;
}

/** A process that is ready to work. */
interface Worker {
  readonly child: WorkerProcess;
  readonly identity: string;
}

const MAX_QUEUE_WAIT_MS = 1000;

/** Pause before another try where a worker was lost while it started; doubled each time up to the longest. */
const RESTART_PAUSE_MS = { first: 100, longest: 5000 };

/**
 * Starts the workers and waits until each has loaded its networks and tried them; if one cannot, throws its
 * error and leaves no process behind. A worker that is lost later is replaced while calls wait.
 */
export async function openPool({
  workers: size,
  maxQueueWaitMs = MAX_QUEUE_WAIT_MS,
  onLoss,
  onOutput = (text) => process.stderr.write(text),
  ...options
}: PoolOptions): Promise<Pool> {
  checkCount("workers", size, 1);
  checkCount("maxQueueWaitMs", maxQueueWaitMs, 1);
  const workers = await startAll(size, options, onOutput);
  const queue = new Queue<WorkerProcess>(maxQueueWaitMs, (child) => child.takeBackLast());
  const ready = new Set<WorkerProcess>();
  const closing = new AbortController();
  let restarts = 0;

  /** Keeps one place filled until the pool closes. */
  async function keepFilled(first: Worker): Promise<void> {
    for (let worker: Worker | undefined = first; worker; worker = await replacement()) {
      const { child } = worker;
      ready.add(child);
      queue.addWorker(child);
      if (closing.signal.aborted) await child.stop();
      tellLoss(await child.gone);
      ready.delete(child);
      queue.removeWorker(child);
    }
  }

  function tellLoss(cause: string): void {
    if (!closing.signal.aborted) onLoss?.({ cause, restarts });
  }

  /** Starts a worker, trying as often as it takes; gives none once the pool closes. */
  async function replacement(): Promise<Worker | undefined> {
    for (let pauseMs = RESTART_PAUSE_MS.first; !closing.signal.aborted; pauseMs *= 2) {
      restarts++;
      const worker = await startWorker(options, onOutput).catch((fault: Error) => tellLoss(fault.message));
      if (worker) return worker;
      const boundedMs = Math.min(pauseMs, RESTART_PAUSE_MS.longest);
      await sleep(boundedMs, undefined, { signal: closing.signal }).catch(() => {});
    }
    return undefined;
  }

  /** Runs all parts of a call. The call queues again before each part, so that other callers are served between. */
  async function call<Name extends Operation>(
    operation: Name,
    image: Uint8Array,
    { boxes, detect, vectors = false, ...options }: AnalyzeOptions & QueueOptions = {},
  ): Promise<Results[Name][]> {
    checkBoxCount(operation, boxes);
    const parts: Results[Name][] = [];
    let checkpoint: Checkpoint | undefined;
    do {
      const job: Job<Name> = { operation, image, options: { boxes, detect, vectors }, checkpoint };
      const part = await runPart(job, options, parts.length === 0 ? "new" : "continued");
      parts.push(part);
      checkpoint = part.checkpoint;
    } while (checkpoint);
    return parts;
  }

  async function runPart<Name extends Operation>(
    job: Job<Name>,
    { signal, onStage, caller, deadlineMs }: CallOptions & QueueOptions,
    firstState: JobOptions["state"],
  ): Promise<Results[Name]> {
    const startMs = performance.now();
    let reply: Reply | undefined;
    for (let state = firstState; !reply; state = "revoked") {
      const assignment = await queue.acquire({ caller, deadlineMs, signal, state });
      const { worker } = assignment;
      const asked = worker.ask({ type: "run", job }, signal);
      asked.over
        .then(() => worker.alive && queue.end(assignment))
        // Its place in the queue is lost, so that the worker would never be used again.
        .catch(() => worker.stop());
      try {
        reply = await asked.reply;
      } finally {
        if (assignment.startedMs !== undefined) onStage?.("queue", assignment.startedMs - startMs);
      }
    }
    for (const stage of reply.stages) onStage?.(...stage);
    if (!reply.ok) throw errorFromPlain(reply.error);
    return reply.value as Results[Name];
  }

  async function close(): Promise<void> {
    closing.abort();
    await queue.close();
    await Promise.all([...ready].map((child) => child.stop()));
    await Promise.all(places);
  }

  const places = workers.map(keepFilled);
  return {
    identity: workers[0]!.identity,
    async analyze(image, options) {
      const analysis = mergeAnalysis((await call("analyze", image, options)).map(partFromSent));
      return { ...analysis, faces: analysis.faces.map(withOwnVector) };
    },
    async embed(image, options) {
      return withOwnVector(mergeEmbedding(await call("embed", image, options)));
    },
    close,
    size,
    rejectionFor: (caller, deadlineMs) => queue.rejectionFor(caller, deadlineMs),
    get waiting() {
      return queue.waiting;
    },
    get busy() {
      return queue.busy;
    },
    get restarts() {
      return restarts;
    },
    get pids() {
      return [...ready].map(({ pid }) => pid!);
    },
  };
}

type OnOutput = (text: string) => void;

function checkCount(name: string, count: number, least: number): void {
  if (Number.isInteger(count) && count >= least) return;
  throw new RangeError(`${name} must be a whole number of at least ${least}, not ${count}`);
}

async function startAll(size: number, options: AnalyzerOptions, onOutput: OnOutput): Promise<Worker[]> {
  const starts = await Promise.allSettled(Array.from({ length: size }, () => startWorker(options, onOutput)));
  const workers = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
  const failed = starts.find((start) => start.status === "rejected");
  if (!failed) return workers;
  await Promise.all(workers.map(({ child }) => child.stop()));
  throw failed.reason;
}

/** A worker that takes longer to start is stuck. */
const START_TIMEOUT_MS = 60_000;

/** Starts a process and waits until it has tried its networks; throws what it could not do once it has ended. */
async function startWorker(options: AnalyzerOptions, onOutput: OnOutput): Promise<Worker> {
  const child = new WorkerProcess(onOutput);
  try {
    // Begins at once, so there is a reply.
    const reply = (await child.ask({ type: "open", options }, AbortSignal.timeout(START_TIMEOUT_MS)).reply)!;
    if (!reply.ok) throw errorFromPlain(reply.error);
    return { child, identity: reply.value as string };
  } catch (error) {
    await child.stop();
    throw error;
  }
}

/** A vector that came in a message shares its memory with the rest of it, and with other messages. */
function withOwnVector<T extends { readonly vector?: Vector }>(face: T): T {
  return face.vector ? { ...face, vector: face.vector.slice() } : face;
}
