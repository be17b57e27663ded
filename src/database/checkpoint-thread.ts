import { Worker } from "node:worker_threads";
import { compiledProgram } from "../processes/compiled-program.ts";

/** `passive` disturbs nobody and moves what it can. `truncate` empties the log, if nobody else reads or writes. */
export type CheckpointMode = "passive" | "truncate";

/** Whether a checkpoint was done, or why not. */
export type CheckpointResult = { readonly isComplete: boolean } | { readonly error: string };

interface PendingCheckpoint {
  readonly resolve: (isComplete: boolean) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Moves the write-ahead log of a database into its file, in a thread with a connection of its own. Both can be large and
 * the disk slow: 400 MB took 2.6 s. The thread starts with the first checkpoint.
 */
export class CheckpointThread {
  readonly #path: string;
  #thread: Worker | undefined;
  /** In the order in which the thread answers. */
  readonly #pending: PendingCheckpoint[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns whether the checkpoint is complete: other connections may keep it from that. Throws if it fails. */
  run(mode: CheckpointMode): Promise<boolean> {
    this.#thread ??= this.#start();
    const thread = this.#thread;
    // Only a checkpoint in progress keeps the process alive.
    thread.ref();
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      thread.postMessage(mode);
    });
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    if (!thread) return;
    const exit = new Promise((resolve) => thread.once("exit", resolve));
    thread.ref();
    thread.postMessage("close");
    await exit;
  }

  #start(): Worker {
    const thread = new Worker(compiledProgram("checkpoint-program", import.meta.url), {
      workerData: this.#path,
    });
    let cause = "it was closed";
    thread.on("message", (result: CheckpointResult) => {
      const { resolve, reject } = this.#pending.shift()!;
      if (this.#pending.length === 0) thread.unref();
      if ("error" in result) reject(new Error(result.error));
      else resolve(result.isComplete);
    });
    thread.on("error", (error) => {
      cause = String(error);
    });
    thread.on("exit", () => {
      this.#thread = undefined;
      for (const { reject } of this.#pending.splice(0))
        reject(new Error(`The thread for checkpoints has ended (${cause}).`));
    });
    return thread;
  }
}
