import type { Output } from "./command.ts";

const INTERVAL_MS = 100;
const BAR_CHARACTERS = 20;
/** Moves the cursor to the start of the line and erases the line. */
const ERASE_LINE = "\r\x1b[K";

/** A progress bar in the last line of a terminal. If the output is no terminal, it prints nothing. */
export class ProgressBar {
  #done = 0;
  #total: number | undefined;
  #isVisible = false;
  readonly #startMs = performance.now();
  readonly #output: Output;
  readonly #unit: string;
  readonly #timer: NodeJS.Timeout | undefined;

  /** `unit` names the items. */
  constructor(output: Output, unit = "photos") {
    this.#output = output;
    this.#unit = unit;
    if (output.isTTY) this.#timer = setInterval(() => this.#draw(), INTERVAL_MS).unref();
  }

  /** Sets the number of items once it is known. */
  set total(count: number) {
    this.#total = count;
  }

  /** Counts items that are done. */
  advance(count = 1): void {
    this.#done += count;
  }

  /** Erases the bar, so that something else can be printed. It is drawn again soon. */
  erase(): void {
    if (!this.#isVisible) return;
    this.#output.write(ERASE_LINE);
    this.#isVisible = false;
  }

  /** Erases the bar for good. */
  close(): void {
    clearInterval(this.#timer);
    this.erase();
  }

  #draw(): void {
    const seconds = (performance.now() - this.#startMs) / 1000;
    const line = formatProgress(this.#done, this.#total, seconds, this.#unit);
    this.#output.write(ERASE_LINE + line.slice(0, (this.#output.columns ?? 80) - 1));
    this.#isVisible = true;
  }
}

/** Counts the items for a progress bar while they are processed. Returns how to stop. */
export function countItems(
  find: (stop: AbortSignal) => AsyncIterable<unknown>,
  progress: ProgressBar,
): AbortController {
  const stop = new AbortController();
  const count = async () => {
    let total = 0;
    for await (const _ of find(stop.signal)) total++;
    if (!stop.signal.aborted) progress.total = total;
  };
  // Without a total, the bar only shows what is done.
  count().catch(() => {});
  return stop;
}

/** Formats the progress after some seconds. The total is undefined while it is not known. */
export function formatProgress(
  done: number,
  total: number | undefined,
  seconds: number,
  unit = "photos",
): string {
  const rate = seconds > 0 ? done / seconds : 0;
  if (!total) return `${done} ${unit}  ${rate.toFixed(1)}/s`;
  // Photos may be added to a folder after they were counted.
  const share = Math.min(1, done / total);
  const filled = Math.round(BAR_CHARACTERS * share);
  const bar = "█".repeat(filled) + "░".repeat(BAR_CHARACTERS - filled);
  const percent = `${Math.floor(100 * share)}%`.padStart(4);
  const rest = rate > 0 ? `  ${formatDuration(Math.max(0, total - done) / rate)} left` : "";
  return `${bar} ${percent}  ${done} of ${total}  ${rate.toFixed(1)}/s${rest}`;
}

function formatDuration(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
