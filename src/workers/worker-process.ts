import { type ChildProcess, fork } from "node:child_process";
import { QueueError } from "./queue-error.ts";
import type { Answer, Reply, Request, Task } from "./worker-messages.ts";

/** How long a process may take to come to the end of a step that it was told to leave, before it counts as stuck. */
const ABORT_GRACE_MS = 5000;

/** How long a process that does nothing may take to end. */
const STOP_GRACE_MS = 3000;

/**
 * A worker decodes one image at a time, so one thread of libuv's pool is enough, and two of glibc's arenas: each has
 * memory of its own that it keeps, and images that wander between many make a worker grow for hours.
 */
const ONE_THREAD = { UV_THREADPOOL_SIZE: "1", MALLOC_ARENA_MAX: "2" };

/** Variables of this process that Node and the dynamic loader of a worker may need. No settings, no secrets. */
const PASSED_VARIABLES = /^(PATH|HOME|TMPDIR|TZ|LANG|LC_[A-Z]+|LD_LIBRARY_PATH)$/;

/**
 * A quarter of what Node lets the heap's young part grow to, in MiB. Pixels that are no longer needed stay in memory
 * until it is collected, and so fewer of them do.
 */
const YOUNG_HEAP = ["--max-semi-space-size=4"];

/** A task that a process was asked to do. */
interface Asked {
  /**
   * What it replies; nothing where it never began, as the task was taken back or the process died at the one before.
   * Rejects with the signal's reason as soon as that is aborted.
   */
  readonly reply: Promise<Reply | undefined>;
  /** Resolved when the process has finished, which after an abort is later: it has to come to the end of a step. */
  readonly over: Promise<void>;
}

/** Who waits for an answer. */
interface Asking {
  readonly number: number;
  resolve(reply?: Reply): void;
  reject(error: Error): void;
}

/** A worker process. It does one thing after another, in the order in which it is asked. */
export class WorkerProcess {
  /** Resolved when the process has ended, for whatever reason, with how it ended. */
  readonly gone: Promise<string>;
  readonly #process: ChildProcess;
  #alive = true;
  /**
   * What it has not answered; only the first can have begun. No map: one that is filled and emptied all the time moves
   * from table to table, and a table that has grown old keeps those that came after it, with all that was in them,
   * from being collected as young garbage.
   */
  #asked: readonly Asking[] = [];
  #askedCount = 0;

  /** `onOutput` gets what the process prints on standard error. */
  constructor(onOutput: (text: string) => void) {
    this.#process = fork(workerProgram(), [], {
      serialization: "advanced",
      execArgv: YOUNG_HEAP,
      // biome-ignore lint/style/noProcessEnv: passes on a few variables, no settings
      env: { ...passedVariables(process.env), ...ONE_THREAD },
      // Read here: a process that shared our standard error would block when nobody reads that.
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#process.stderr?.setEncoding("utf8").on("data", onOutput);
    this.#process.on("message", ({ number, reply }: Answer) => this.#askingOf(number)?.resolve(reply));
    this.gone = new Promise((resolve) => {
      const end = (how: string) => {
        this.#alive = false;
        const [begun, ...others] = this.#asked;
        begun?.reject(lostError());
        for (const other of others) other.resolve();
        resolve(how);
      };
      this.#process.once("exit", (code, signal) => end(signal ?? `exit code ${code}`));
      // A process that could not be started does not exit either.
      this.#process.once("error", ({ message }) => end(message));
    });
  }

  get alive(): boolean {
    return this.#alive;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Asks for a task. Aborting the signal hurries it, and ends a process that is stuck. */
  ask(task: Task, signal?: AbortSignal): Asked {
    if (!this.#alive) return { reply: Promise.reject(lostError()), over: Promise.resolve() };
    const number = ++this.#askedCount;
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    const reply = new Promise<Reply | undefined>((resolve, reject) => {
      let stopListening = () => {};
      let stuck: NodeJS.Timeout | undefined;
      const finish = () => {
        this.#asked = this.#asked.filter((one) => one !== asking);
        stopListening();
        clearTimeout(stuck);
        end();
      };
      const asking: Asking = {
        number,
        resolve: (value?: Reply) => {
          finish();
          resolve(value);
        },
        reject: (error: Error) => {
          finish();
          reject(error);
        },
      };
      this.#asked = [...this.#asked, asking];
      try {
        this.#send({ number, ...task });
      } catch (fault) {
        // It holds something of which no message can be made.
        asking.reject(fault as Error);
        return;
      }
      stopListening = onAbort(signal, () => {
        reject(signal?.reason);
        if (this.#isFirst(number)) stuck = this.#killAfter(ABORT_GRACE_MS);
        this.#leave(number);
      });
    });
    return { reply, over };
  }

  /** Takes back what was asked last, unless it has begun: also from a process that is stuck. */
  takeBackLast(): void {
    const last = this.#asked.at(-1)?.number;
    if (last !== undefined && !this.#isFirst(last)) this.#leave(last);
  }

  #askingOf(number: number): Asking | undefined {
    return this.#asked.find((one) => one.number === number);
  }

  #isFirst(number: number): boolean {
    return number === this.#asked[0]?.number;
  }

  /** If it has just begun, unheard of as yet, some of it was done for nothing. */
  #leave(number: number): void {
    this.#send({ number, type: "leave" });
    if (!this.#isFirst(number)) this.#askingOf(number)?.resolve();
  }

  /** Lets the process end, kills it if it does not, and waits until it has ended. */
  async stop(): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    const stuck = this.#killAfter(STOP_GRACE_MS);
    await this.gone;
    clearTimeout(stuck);
  }

  #killAfter(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => this.#process.kill("SIGKILL"), milliseconds).unref();
  }

  #send(message: Request): void {
    // What cannot be sent was meant for a process that is dying, and its exit tells the rest.
    this.#process.send(message, () => {});
  }
}

function passedVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => PASSED_VARIABLES.test(name)));
}

/** The program of a worker. Node runs only what is compiled: from source, as in tests, it is the one in dist/. */
function workerProgram(): URL {
  const isSource = import.meta.url.endsWith(".ts");
  return new URL(isSource ? "../../dist/src/workers/worker.js" : "./worker.js", import.meta.url);
}

function lostError(): QueueError {
  return new QueueError("workerLost", "The worker process has died.");
}

/** Calls back once the signal is aborted, or now if it is; gives a function that ends the listening. */
function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal?.aborted) callback();
  signal?.addEventListener("abort", callback, { once: true });
  return () => signal?.removeEventListener("abort", callback);
}
