import { type ChildProcess, fork } from "node:child_process";
import { ProgressWatch } from "./progress-watch.ts";
import { QueueError } from "./queue-error.ts";
import type { Task, TaskResult, WorkerRequest } from "./worker-messages.ts";

/** How long a worker may take to reach the end of a step after a cancellation. After that it is killed. */
const CANCEL_GRACE_MS = 5000;

/** How long an idle worker may take to exit. After that it is killed. */
const STOP_GRACE_MS = 3000;

/**
 * A worker decodes one image at a time, so one thread of libuv's pool and two arenas of glibc are enough. Each arena
 * keeps its own memory, and with many of them a worker grows for hours.
 */
const MEMORY_VARIABLES = { UV_THREADPOOL_SIZE: "1", MALLOC_ARENA_MAX: "2" };

/** Variables that Node and the dynamic loader of a worker may need. Workers get no settings and no secrets. */
const INHERITED_VARIABLES = /^(PATH|HOME|TMPDIR|TZ|LANG|LC_[A-Z]+|LD_LIBRARY_PATH)$/;

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
export class WorkerProcess {
  /** Resolves with the exit code, the signal or the error when the process has ended for any reason. */
  readonly exited: Promise<string>;
  readonly #process: ChildProcess;
  #isAlive = true;
  /** The task without a response. */
  #pending: PendingTask | undefined;
  #stuckCause: string | undefined;

  /** Starts the process. */
  constructor({ onOutput, stuckAfterMs, maxJobCpuMs }: WorkerProcessOptions) {
    this.#process = fork(workerProgram(), [], {
      serialization: "advanced",
      execArgv: HEAP_OPTIONS,
      // biome-ignore lint/style/noProcessEnv: passes on a few variables, no settings
      env: { ...inheritedVariables(process.env), ...MEMORY_VARIABLES },
      // Piped: a worker that shared our standard error would block if nobody reads it.
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#process.stderr?.setEncoding("utf8").on("data", onOutput);
    this.#process.on("message", (result: TaskResult) => this.#endTask()?.resolve(result));
    const watch = new ProgressWatch({
      pid: this.#process.pid,
      runningJob: () => (this.#pending?.type === "run" ? this.#pending : undefined),
      stuckAfterMs,
      maxCpuMs: maxJobCpuMs,
      onStuck: (cause) => {
        this.#stuckCause = cause;
        this.#process.kill("SIGKILL");
      },
    });
    this.exited = new Promise((resolve) => {
      const end = (cause: string) => {
        watch.stop();
        this.#isAlive = false;
        this.#endTask()?.reject(workerLostError());
        resolve(this.#stuckCause ?? cause);
      };
      this.#process.once("exit", (code, signal) => end(signal ?? `exit code ${code}`));
      // A process that could not be started emits no `exit`.
      this.#process.once("error", ({ message }) => end(message));
    });
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Whether the process was killed because it was stuck with its job. */
  get isStuck(): boolean {
    return this.#stuckCause !== undefined;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Runs a task; none may be running. Aborting the signal cancels it, and kills the worker if that takes too long. */
  run(task: Task, signal?: AbortSignal): Execution {
    const response = this.#execute(task);
    const result = new Promise<TaskResult>((resolve, reject) => {
      let killTimer: NodeJS.Timeout | undefined;
      const cancel = () => {
        reject(signal?.reason);
        this.#send({ type: "cancel" });
        killTimer = this.#killAfter(CANCEL_GRACE_MS);
      };
      const stopListening = onAbort(signal, cancel);
      const finish = () => {
        stopListening();
        clearTimeout(killTimer);
      };
      response.finally(finish).then(resolve, reject);
    });
    const ignore = () => {};
    return { result, finished: response.then(ignore, ignore) };
  }

  #execute(task: Task): Promise<TaskResult> {
    return new Promise((resolve, reject) => {
      if (!this.#isAlive) throw workerLostError();
      // Throws if the task has a value that cannot be serialized.
      this.#send(task);
      this.#pending = { type: task.type, resolve, reject };
    });
  }

  #endTask(): PendingTask | undefined {
    const ended = this.#pending;
    this.#pending = undefined;
    return ended;
  }

  /** Lets the process exit, kills it if it does not, and waits until it has ended. */
  async stop(): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    const killTimer = this.#killAfter(STOP_GRACE_MS);
    await this.exited;
    clearTimeout(killTimer);
  }

  #killAfter(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#process.kill("SIGKILL"), delayMs).unref();
  }

  #send(message: WorkerRequest): void {
    // Sending fails asynchronously only if the process is ending, and then `exit` follows.
    this.#process.send(message, () => {});
  }
}

function inheritedVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => INHERITED_VARIABLES.test(name)));
}

/** The compiled program of a worker, also when this file runs from source, as in tests. */
function workerProgram(): URL {
  const isSource = import.meta.url.endsWith(".ts");
  return new URL(isSource ? "../../dist/src/workers/worker.js" : "./worker.js", import.meta.url);
}

function workerLostError(): QueueError {
  return new QueueError("workerLost", "The worker process has ended.");
}

/** Calls back when the signal is aborted, or now if it already is. Returns a function that stops listening. */
function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal?.aborted) callback();
  signal?.addEventListener("abort", callback, { once: true });
  return () => signal?.removeEventListener("abort", callback);
}
