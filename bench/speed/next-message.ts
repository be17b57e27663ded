import type { ChildProcess } from "node:child_process";

/** Waits for the next message of a child process. Rejects if the child exits first; the error then has the name. */
export function nextMessage(child: ChildProcess, name: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(`${name} exited unexpectedly.`));
    child.once("exit", fail);
    child.once("message", (message) => {
      child.off("exit", fail);
      resolve(message);
    });
  });
}
