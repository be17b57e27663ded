/** What a caller may have at once, though it comes faster than its pace. */
const BURST_MS = 1000;

/** Callers who are told to come back after a second gain nothing by coming earlier, and lose nothing. */
const LONGEST_DELAY_MS = 1000;

/** Spreads what each caller asks for over time: a second's worth at once, more of it later and later. */
export class Pace {
  readonly #intervalMs: number;
  /** When all that a caller has had is used up. */
  readonly #usedUpAt = new Map<string, number>();

  constructor(perSecond: number) {
    this.#intervalMs = 1000 / perSecond;
  }

  /** How many milliseconds a caller who asks for one more at this moment has to wait for it. */
  delayOf(caller: string, nowMs: number): number {
    const usedUpAt = Math.max(nowMs, this.#usedUpAt.get(caller) ?? 0) + this.#intervalMs;
    const latest = nowMs + BURST_MS + LONGEST_DELAY_MS;
    this.#usedUpAt.set(caller, Math.min(usedUpAt, latest));
    return Math.min(Math.max(0, usedUpAt - BURST_MS - nowMs), LONGEST_DELAY_MS);
  }
}
