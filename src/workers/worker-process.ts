import { compiledProgram } from "../processes/compiled-program.ts";
import { ProgramProcess } from "../processes/program-process.ts";
import { ProgressWatch } from "./progress-watch.ts";
import { QueueError } from "./queue-error.ts";
import type { Task, TaskResult, WorkerRequest } from "./worker-messages.ts";

/** How long a worker may take to reach the end of a step after a cancellation. After that it is killed. */
const CANCEL_GRACE_MS = 5000;

/**
 * A worker decodes one image at a time, so one thread of libuv's pool and two arenas of glibc are enough. Each arena
 * keeps its own memory, and with many of them a worker grows for hours.
 */
const MEMORY_VARIABLES = { UV_THREADPOOL_SIZE: "1", MALLOC_ARENA_MAX: "2" };

/** Variables that Node, the dynamic loader and CUDA may need in a worker. Workers get no settings and no secrets. */
const INHERITED_VARIABLES = /^(PATH|HOME|TMPDIR|TZ|LANG|LC_[A-Z]+|LD_LIBRARY_PATH|CUDA_VISIBLE_DEVICES)$/;

/**
 * Limits the young generation of the heap to a quarter of Node's default. Pixels that are no longer needed stay in
 * memory until the next scavenge, so a smaller heap holds fewer of them.
 */
const HEAP_OPTIONS = ["--max-semi-space-size=4"];

/** A task that was sent to a worker. */
export interface Execution {
  /**
   * Rejects with the signal's reason as soon as the signal is aborted, and with QueueError `workerLost` if the worker
   * exits.
   */
  readonly result: Promise<TaskResult>;
  /** Resolves when the worker has finished the task. After an abort it first completes the current step. */
  readonly finished: Promise<void>;
}

/** Options of a worker process. */
export interface WorkerProcessOptions {
  /** Gets what the process prints on standard error. */
  readonly onOutput: (text: string) => void;
  /** How long the process may be stuck with a job. After that it is killed. */
  readonly stuckAfterMs?: number | undefined;
  /** How much CPU time one job may use. After that the process is killed. */
  readonly maxJobCpuMs: number;
}

interface PendingTask {
  readonly type: Task["type"];
  resolve(result: TaskResult): void;
  reject(error: Error): void;
}

/** A worker process. It runs one task at a time. */
export class WorkerProcess extends ProgramProcess<WorkerRequest, TaskResult> {
  /** The task without a response. */
  #pending: PendingTask | undefined;
  #isStuck = false;

  /** Starts the process. */
  constructor({ onOutput, stuckAfterMs, maxJobCpuMs }: WorkerProcessOptions) {
    super({
      program: compiledProgram("worker", import.meta.url),
      // biome-ignore lint/style/noProcessEnv: passes on a few variables, no settings
      env: { ...inheritedVariables(process.env), ...MEMORY_VARIABLES },
      execArgv: HEAP_OPTIONS,
      onOutput,
      onMessage: (result) => this.#endTask()?.resolve(result),
      onExit: () => {
        watch.stop();
        this.#endTask()?.reject(workerLostError());
      },
    });
    const watch = new ProgressWatch({
      pid: this.pid,
      runningJob: () => (this.#pending?.type === "run" ? this.#pending : undefined),
      stuckAfterMs,
      maxCpuMs: maxJobCpuMs,
      onStuck: (cause) => {
        this.#isStuck = true;
        this.kill(cause);
      },
    });
  }

  /** Whether the process was killed because it was stuck with its job. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** Runs a task; none may be running. Aborting the signal cancels it, and kills the worker if that takes too long. */
  run(task: Task, signal?: AbortSignal): Execution {
    const response = this.#execute(task, signal);
    const result = new Promise<TaskResult>((resolve, reject) => {
      let killTimer: NodeJS.Timeout | undefined;
      const cancel = () => {
        reject(signal?.reason);
        this.send({ type: "cancel" });
        killTimer = setTimeout(() => this.kill("SIGKILL"), CANCEL_GRACE_MS).unref();
      };
      const finish = () => {
        signal?.removeEventListener("abort", cancel);
        clearTimeout(killTimer);
      };
      signal?.addEventListener("abort", cancel, { once: true });
      response.finally(finish).then(resolve, reject);
    });
    const ignore = () => {};
    return { result, finished: response.then(ignore, ignore) };
  }

  #execute(task: Task, signal: AbortSignal | undefined): Promise<TaskResult> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (!this.isAlive) throw workerLostError();
      // Throws if the task has a value that cannot be serialized.
      this.send(task);
      this.#pending = { type: task.type, resolve, reject };
    });
  }

  #endTask(): PendingTask | undefined {
    const ended = this.#pending;
    this.#pending = undefined;
    return ended;
  }
}

function inheritedVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => INHERITED_VARIABLES.test(name)));
}

function workerLostError(): QueueError {
  return new QueueError("workerLost", "The worker process has ended.");
}
