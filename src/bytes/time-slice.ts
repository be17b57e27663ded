import { setImmediate } from "node:timers/promises";

/** How long a parser runs before it yields to the event loop. */
const SLICE_MS = 5;

/** Bytes that a parser processes between two checks of the clock: well under a millisecond of work. */
export const STEP_BYTES = 64 * 1024;

/**
 * Divides long synchronous work into slices, so that it does not block the event loop. After each step, the work calls
 * `pause` if `isOver` is true.
 */
export class TimeSlice {
  private end = performance.now() + SLICE_MS;

  get isOver(): boolean {
    return performance.now() > this.end;
  }

  /** Lets pending I/O and timers run, then begins a new slice. */
  async pause(): Promise<void> {
    await setImmediate();
    this.end = performance.now() + SLICE_MS;
  }
}
