import { TimeSlice } from "./time-slice.ts";

/** The range of one native search. The worst pattern takes a few nanoseconds per byte. */
const WINDOW_BYTES = 1024 * 1024;

/** Finds the first occurrence of a pattern at or after an index, like `indexOf`, without blocking the event loop. */
export async function findBytes(bytes: Buffer, pattern: Buffer, from: number): Promise<number> {
  const slice = new TimeSlice();
  for (let start = from; start < bytes.length; start += WINDOW_BYTES) {
    // A match that begins in this window may end in the next one.
    const found = bytes.subarray(start, start + WINDOW_BYTES + pattern.length - 1).indexOf(pattern);
    if (found >= 0) return start + found;
    if (slice.isOver) await slice.pause();
  }
  return -1;
}
