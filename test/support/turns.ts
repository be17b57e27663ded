/** The longest turn of the event loop, and all turns together. */
export interface Turns<T> {
  readonly result: T;
  readonly longestMs: number;
  readonly totalMs: number;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The best of these runs counts, because garbage collection and other processes disturb some of them. */
const RUNS = 3;

/**
 * Measures how long work keeps the event loop from running anything else, in milliseconds. On a busy machine much of
 * the wall time belongs to other processes, so the processor time counts if it is less.
 */
export async function longestTurn<T>(work: () => Promise<T>): Promise<Turns<T>> {
  const runs: Turns<T>[] = [];
  for (let run = 0; run < RUNS; run++) runs.push(await measureTurns(work));
  const shareOf = ({ longestMs, totalMs }: Turns<T>) => longestMs / totalMs;
  return runs.toSorted((a, b) => shareOf(a) - shareOf(b))[0]!;
}

async function measureTurns<T>(work: () => Promise<T>): Promise<Turns<T>> {
  const start = cpuMs();
  let longestMs = 0;
  let last = { wall: performance.now(), cpu: start };
  let isDone = false;
  const tick = () => {
    const now = { wall: performance.now(), cpu: cpuMs() };
    longestMs = Math.max(longestMs, Math.min(now.wall - last.wall, now.cpu - last.cpu));
    last = now;
    if (!isDone) setImmediate(tick);
  };
  setImmediate(tick);
  const result = await work();
  isDone = true;
  tick();
  return { result, longestMs, totalMs: cpuMs() - start };
}
