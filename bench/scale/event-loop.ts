// The parts of a discrete-event simulation of computers. All times are in milliseconds.

interface Event {
  readonly timeMs: number;
  /** Events of one time run in the order in which they were scheduled. */
  readonly order: number;
  readonly run: () => void;
}

/** Simulated time: runs events in the order of their times. */
export class Clock {
  nowMs = 0;
  #scheduled = 0;
  /** A binary heap, the next event first. */
  readonly #heap: Event[] = [];

  /** Runs an event after a delay. */
  after(delayMs: number, run: () => void): void {
    const event = { timeMs: this.nowMs + delayMs, order: this.#scheduled++, run };
    const heap = this.#heap;
    let i = heap.push(event) - 1;
    for (let parent = (i - 1) >> 1; i > 0 && isBefore(event, heap[parent]!); parent = (i - 1) >> 1) {
      heap[i] = heap[parent]!;
      i = parent;
    }
    heap[i] = event;
  }

  /** Runs all events up to a time. */
  runUntil(endMs: number): void {
    for (let [next] = this.#heap; next && next.timeMs <= endMs; [next] = this.#heap) {
      this.#removeFirst();
      this.nowMs = next.timeMs;
      next.run();
    }
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (child >= heap.length || !isBefore(heap[child]!, last)) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = last;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.timeMs === other.timeMs ? one.order < other.order : one.timeMs < other.timeMs;
}

interface Task {
  leftMs: number;
  readonly onEnd: () => void;
}

/** Below this, work is done: rounding leaves tiny rests. */
const EPSILON_MS = 1e-6;

/**
 * The cores of a machine. Running tasks share them equally, and each uses at most one (processor sharing). Competitors
 * are tasks of other programs that always run; on average, their number may be a fraction.
 */
export class Machine {
  readonly #clock: Clock;
  readonly #cores: number;
  readonly #competitors: number;
  #tasks: Task[] = [];
  #updatedAtMs = 0;
  /** Counts changes, which make the scheduled end of a task invalid. */
  #version = 0;
  /** CPU time of all tasks so far. */
  usedMs = 0;

  constructor(clock: Clock, cores: number, competitors = 0) {
    this.#clock = clock;
    this.#cores = cores;
    this.#competitors = competitors;
  }

  run(workMs: number, onEnd: () => void): void {
    this.#advance();
    this.#tasks.push({ leftMs: workMs, onEnd });
    this.#scheduleNextEnd();
  }

  get #speed(): number {
    return Math.min(1, this.#cores / (this.#tasks.length + this.#competitors));
  }

  #advance(): void {
    const doneMs = (this.#clock.nowMs - this.#updatedAtMs) * this.#speed;
    if (doneMs > 0) for (const task of this.#tasks) task.leftMs -= doneMs;
    this.usedMs += this.#tasks.length > 0 ? doneMs * this.#tasks.length : 0;
    this.#updatedAtMs = this.#clock.nowMs;
  }

  #scheduleNextEnd(): void {
    const version = ++this.#version;
    if (this.#tasks.length === 0) return;
    const leftMs = this.#tasks.reduce(
      (least, task) => Math.min(least, task.leftMs),
      Number.POSITIVE_INFINITY,
    );
    this.#clock.after(Math.max(0, leftMs) / this.#speed, () => {
      if (version !== this.#version) return;
      this.#advance();
      const ended = this.#tasks.filter((task) => task.leftMs <= EPSILON_MS);
      this.#tasks = this.#tasks.filter((task) => task.leftMs > EPSILON_MS);
      for (const { onEnd } of ended) onEnd();
      this.#scheduleNextEnd();
    });
  }
}

/** Processes, or connections, that run jobs on a machine, each one at a time, in the order of arrival. */
export class Station {
  readonly #clock: Clock;
  readonly #machine: Machine;
  readonly #size: number;
  readonly #waiting: (() => void)[] = [];
  /** When the running jobs were started. */
  readonly #startedAtMs = new Set<{ readonly ms: number }>();
  usedMs = 0;

  constructor(clock: Clock, machine: Machine, size: number) {
    this.#clock = clock;
    this.#machine = machine;
    this.#size = size;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get idle(): number {
    return this.#size - this.#startedAtMs.size;
  }

  /** For how long the running jobs have been running. */
  get elapsedMs(): number[] {
    return Array.from(this.#startedAtMs, ({ ms }) => this.#clock.nowMs - ms);
  }

  /** Runs a job as soon as it is its turn. `onEnd` gets how long it ran. A delay without CPU time may follow the work. */
  run(workMs: number, onEnd: (durationMs: number) => void, delayMs = 0): void {
    const start = () => {
      const started = { ms: this.#clock.nowMs };
      this.#startedAtMs.add(started);
      this.#machine.run(workMs, () => (delayMs > 0 ? this.#clock.after(delayMs, end) : end()));
      const end = () => {
        this.#startedAtMs.delete(started);
        this.usedMs += workMs;
        this.#waiting.shift()?.();
        onEnd(this.#clock.nowMs - started.ms);
      };
    };
    if (this.idle > 0) start();
    else this.#waiting.push(start);
  }
}
