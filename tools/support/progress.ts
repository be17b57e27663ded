/** Shows the progress of a long job on standard error: a bar on a terminal, otherwise a line every 10 %. */
export class Progress {
  private readonly title: string;
  private readonly total: number;
  private readonly start = performance.now();
  private done = 0;

  constructor(title: string, total: number) {
    this.title = title;
    this.total = total;
  }

  /** Counts one more step as done. */
  step(): void {
    this.done++;
    const { isTTY } = process.stderr;
    const isTenth =
      Math.floor((this.done * 10) / this.total) > Math.floor(((this.done - 1) * 10) / this.total);
    if (!isTTY && !isTenth) return;
    process.stderr.write(`${isTTY ? "\r" : ""}${this.line()}${isTTY && this.done < this.total ? "" : "\n"}`);
  }

  private line(): string {
    const share = this.done / this.total;
    const bar = "█".repeat(Math.round(share * 24)).padEnd(24, "·");
    const seconds = (performance.now() - this.start) / 1000;
    const left = Math.round((seconds / share) * (1 - share));
    return `${this.title.padEnd(14)} ${bar} ${this.done}/${this.total}, ${left} s left`;
  }
}

/** Runs a job for each item of a list, one at a time, and shows the progress. */
export async function mapWithProgress<T, R>(
  title: string,
  items: readonly T[],
  job: (item: T) => Promise<R>,
): Promise<R[]> {
  const progress = new Progress(title, items.length);
  const results: R[] = [];
  for (const item of items) {
    results.push(await job(item));
    progress.step();
  }
  return results;
}

/** Waits for a job that takes about the given time, and shows the progress. */
export async function waitWithProgress<T>(title: string, seconds: number, job: Promise<T>): Promise<T> {
  const total = Math.ceil(seconds);
  const progress = new Progress(title, total);
  let left = total;
  const step = () => {
    if (left-- > 0) progress.step();
  };
  const timer = setInterval(step, 1000);
  try {
    return await job;
  } finally {
    clearInterval(timer);
    while (left > 0) step();
  }
}
