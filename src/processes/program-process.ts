import { type ChildProcess, type ForkOptions, fork, type Serializable } from "node:child_process";

/** How long an idle process may take to exit. After that it is killed. */
const STOP_GRACE_MS = 3_000;

/** Options of a process: those of `fork`, without Node options of this process by default, and callbacks. */
export interface ProcessOptions<Received> extends Pick<ForkOptions, "env" | "execArgv"> {
  /** The compiled program, which calls `connectToParent`. */
  readonly program: URL;
  readonly onMessage: (message: Received) => void;
  /** Gets what the process prints on standard error. */
  readonly onOutput: (text: string) => void;
  /** Called once with the exit code, the signal or the error, or why the process was killed. */
  readonly onExit: (cause: string) => void;
}

/** One of our programs in a process of its own. Both processes exchange messages. */
export class ProgramProcess<Sent extends Serializable, Received> {
  /** Resolves after `onExit`, with the same cause. */
  readonly exited: Promise<string>;
  readonly #child: ChildProcess;
  #isAlive = true;
  #end: (cause: string) => void = () => {};

  /** Starts the process. */
  constructor({ program, onMessage, onOutput, onExit, ...options }: ProcessOptions<Received>) {
    this.#child = fork(program, [], {
      serialization: "advanced",
      execArgv: [],
      ...options,
      // Piped: a process that shared our standard error would block if nobody reads it.
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#child.stderr?.setEncoding("utf8").on("data", onOutput);
    this.#child.on("message", (message) => this.#isAlive && onMessage(message as Received));
    this.exited = new Promise((resolve) => {
      this.#end = (cause) => {
        if (!this.#isAlive) return;
        this.#isAlive = false;
        onExit(cause);
        resolve(cause);
      };
    });
    this.#child.once("exit", (code, signal) => this.#end(signal ?? `exit code ${code}`));
    // A process that could not be started emits no `exit`.
    this.#child.once("error", ({ message }) => this.#end(message));
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Sends a message. Throws if it has a value that cannot be serialized. */
  send(message: Sent): void {
    // Sending fails asynchronously only if the process is ending, and then `exit` follows.
    this.#child.send(message, () => {});
  }

  /** Kills the process. It counts as ended at once, even if the system takes a while. */
  kill(cause: string): void {
    this.#end(cause);
    this.#child.kill("SIGKILL");
  }

  /** Lets the process exit, kills it if it does not, and waits until it has ended. */
  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    const killTimer = setTimeout(() => this.kill("SIGKILL"), STOP_GRACE_MS).unref();
    await this.exited;
    clearTimeout(killTimer);
  }
}
