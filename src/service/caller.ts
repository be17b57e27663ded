import { AsyncLocalStorage } from "node:async_hooks";

/** One on whose behalf a request is made. */
export interface Caller {
  /** What the log calls the user. */
  readonly fingerprint: string;
  /** The most bytes of one image, where the user's plan says so. */
  readonly maxImageBytes: number | undefined;
  /** Is told once how a request ended: `ok`, or the reason of its error. */
  finish(operation: string, outcome: string): void;
}

// Not among the values of Connect's context: these do not pass from plain HTTP to the operations.
const callers = new AsyncLocalStorage<Caller>();

/** Does some work, and all that comes of it, on behalf of a caller. */
export function workFor(caller: Caller, work: () => void): void {
  callers.run(caller, work);
}

/** On whose behalf the work is done that asks; requests that need no user have none. */
export function currentCaller(): Caller | undefined {
  return callers.getStore();
}

/** What usage calls an operation: `get_face_vec` for GetFaceVec. */
export function operationOf(method: string): string {
  return method.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}
