import type { ChildProcess } from "node:child_process";

/** The next message of a process; throws if it ends instead, and calls it by this name then. */
export function nextMessage(child: ChildProcess, name: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const lose = () => reject(new Error(`${name} died`));
    child.once("exit", lose);
    child.once("message", (message) => {
      child.off("exit", lose);
      resolve(message);
    });
  });
}
