import { setImmediate } from "node:timers/promises";
import { stepEnd } from "./base64.ts";

/** Finds the first occurrence of a pattern at or after an index, like `indexOf`, without blocking the event loop. */
export async function findBytes(bytes: Buffer, pattern: Buffer, from: number): Promise<number> {
  for (let start = from; start < bytes.length; ) {
    const end = stepEnd(start);
    // A match that begins in this step may end in the next one.
    const found = bytes.subarray(start, end + pattern.length - 1).indexOf(pattern);
    if (found >= 0) return start + found;
    start = end;
    await setImmediate();
  }
  return -1;
}
