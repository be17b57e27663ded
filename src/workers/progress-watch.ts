import { readdirSync, readFileSync } from "node:fs";

/** What a watch observes, and when it loses patience. */
export interface ProgressWatchOptions {
  /** Undefined for a process that could not be started. */
  readonly pid: number | undefined;
  /** Returns the job that runs, or undefined if none does. */
  readonly runningJob: () => unknown;
  /** Called once. The cause completes the sentence "The process ...". */
  readonly onStuck: (cause: string) => void;
  /** How long a process with a job may use no CPU time while all its threads wait. */
  readonly stuckAfterMs?: number | undefined;
  /** How much CPU time one job may use. */
  readonly maxCpuMs: number;
}

const STUCK_AFTER_MS = 10_000;

/** How often a process is observed before it counts as stuck. */
const SAMPLES = 10;

/** The unit of CPU times in /proc: a hundredth of a second on every architecture. */
const TICK_MS = 10;

/** States of a thread that works, or would if it got a core or its memory. All others wait. */
const ACTIVE_STATES = ["R", "D"];

interface Progress {
  readonly job: unknown;
  readonly startCpuMs: number;
  cpuMs: number;
  idleSamples: number;
}

/**
 * Notices that a process is stuck with a job: that it is stopped or blocked, or runs in an endless loop. A job needs
 * nothing but CPU time, and only that is measured, so a process on a busy machine is given the time that it needs.
 * Samples are counted instead of milliseconds, because this process may itself be stopped for a while. Observes nothing
 * on systems other than Linux.
 */
export class ProgressWatch {
  readonly #options: ProgressWatchOptions;
  readonly #timer: NodeJS.Timeout;
  #progress: Progress | undefined;

  constructor(options: ProgressWatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#sample(), (options.stuckAfterMs ?? STUCK_AFTER_MS) / SAMPLES);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const { pid, runningJob, onStuck, maxCpuMs } = this.#options;
    const job = runningJob();
    const cpuMs = job === undefined ? undefined : readCpuMs(pid);
    if (job === undefined || cpuMs === undefined) {
      this.#progress = undefined;
      return;
    }
    if (this.#progress?.job !== job) this.#progress = { job, startCpuMs: cpuMs, cpuMs, idleSamples: 0 };
    const progress = this.#progress;
    progress.idleSamples = progress.cpuMs === cpuMs ? progress.idleSamples + 1 : 0;
    progress.cpuMs = cpuMs;
    const cause =
      cpuMs - progress.startCpuMs > maxCpuMs
        ? `used more than ${maxCpuMs / 1000} s of CPU time for one job`
        : progress.idleSamples > SAMPLES && isWaiting(pid)
          ? "has a job and uses no CPU time"
          : undefined;
    if (cause === undefined) return;
    this.stop();
    onStuck(cause);
  }
}

/** Reads the CPU time that a process has used; undefined if the system does not tell. */
function readCpuMs(pid: number | undefined): number | undefined {
  const [, ...fields] = readStat(`/proc/${pid}`);
  const ticks = Number(fields[10]) + Number(fields[11]);
  // A worker has used CPU time when its first job starts. A zero means that it is not counted here.
  return ticks > 0 ? ticks * TICK_MS : undefined;
}

/** Whether all threads of a process wait, or are stopped. */
function isWaiting(pid: number | undefined): boolean {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return !threads.some((id) => ACTIVE_STATES.includes(readStat(`/proc/${pid}/task/${id}`)[0] ?? ""));
  } catch {
    return false;
  }
}

/** Reads the state of a process or thread and the numbers after it; empty if it has ended. */
function readStat(folder: string): string[] {
  try {
    // The name of the program comes first, in parentheses, and may contain anything.
    return readFileSync(`${folder}/stat`, "latin1").split(") ").at(-1)!.split(" ");
  } catch {
    return [];
  }
}
