/** A job that was assigned to a worker. */
export interface Assignment<Worker> {
  readonly worker: Worker;
  /** When the worker started it, by `performance.now()`; undefined while the worker is still busy with the job before. */
  readonly startedMs: number | undefined;
}

/** An assignment that has not ended. */
export interface OpenAssignment<Worker> extends Assignment<Worker> {
  readonly caller: string;
  /** Position in the order in which jobs were assigned. */
  readonly number: number;
  /** Whether another caller's job was let pass already. */
  readonly hasGivenWay: boolean;
  startedMs: number | undefined;
  isRevoked: boolean;
  /** Jobs that were assigned later to other workers have ended before it. Its worker gets no further jobs in advance. */
  isSlow: boolean;
}

/** The jobs of busy workers. The first of each worker is running, a second one is assigned in advance. */
export class Assignments<Worker> {
  /** In the order in which the running jobs were started, the oldest first. */
  readonly #byWorker = new Map<Worker, OpenAssignment<Worker>[]>();
  #assignedCount = 0;

  /** Number of busy workers. */
  get busy(): number {
    return this.#byWorker.size;
  }

  /** Assigns a job, which starts at once if the worker has no other. */
  assign(worker: Worker, caller: string, hasGivenWay: boolean): OpenAssignment<Worker> {
    const others = this.#byWorker.get(worker) ?? [];
    const assignment: OpenAssignment<Worker> = {
      worker,
      caller,
      number: this.#assignedCount++,
      hasGivenWay,
      startedMs: others.length === 0 ? performance.now() : undefined,
      isRevoked: false,
      isSlow: false,
    };
    this.#byWorker.set(worker, [...others, assignment]);
    return assignment;
  }

  /** Ends an assignment and starts the worker's next one. Returns it, or undefined if it had ended before. */
  end(assignment: Assignment<Worker>): OpenAssignment<Worker> | undefined {
    const { worker } = assignment;
    const open = this.#byWorker.get(worker) ?? [];
    const ended = open.find((one) => one === assignment);
    if (!ended) return undefined;
    const left = open.filter((one) => one !== ended);
    const [first] = left;
    // A job that starts now belongs at the end of the map's order.
    if (first?.startedMs === undefined) this.#byWorker.delete(worker);
    if (first) {
      first.startedMs ??= performance.now();
      this.#byWorker.set(worker, left);
    }
    return ended;
  }

  /** Drops all assignments of a worker. */
  remove(worker: Worker): void {
    this.#byWorker.delete(worker);
  }

  /** Whether a worker is busy. */
  has(worker: Worker): boolean {
    return this.#byWorker.has(worker);
  }

  /** Whether a job of this caller is running. */
  isServing(caller: string): boolean {
    for (const [running] of this.#byWorker.values()) if (running!.caller === caller) return true;
    return false;
  }

  /** When each busy worker started its job, by `performance.now()`. */
  startTimes(): number[] {
    return Array.from(this.#byWorker.values(), ([running]) => running!.startedMs!);
  }

  /** Jobs that were assigned in advance, first those behind the oldest running jobs. */
  inAdvance(): OpenAssignment<Worker>[] {
    const found: OpenAssignment<Worker>[] = [];
    for (const assignments of this.#byWorker.values())
      for (const one of assignments) if (one.startedMs === undefined && !one.isRevoked) found.push(one);
    return found;
  }

  /** Busy workers that may be assigned a job in advance. */
  openToMore(): Worker[] {
    const workers: Worker[] = [];
    for (const [worker, [running, next]] of this.#byWorker)
      if (!next && !running!.isSlow) workers.push(worker);
    return workers;
  }

  /** Finds jobs in advance behind jobs that are slower than one that has ended, and marks these as slow. */
  behindSlowerThan({ number }: OpenAssignment<Worker>): OpenAssignment<Worker>[] {
    const behind = this.inAdvance().filter((one) => one.number < number);
    for (const { worker } of behind) this.#byWorker.get(worker)![0]!.isSlow = true;
    return behind;
  }
}
