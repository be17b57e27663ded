/** A job that is assigned to a worker. */
export interface Assignment<Worker> {
  readonly worker: Worker;
  /** When the worker started the job, by `performance.now()`; undefined while the job is assigned in advance. */
  readonly startedMs: number | undefined;
}

/** The properties of a job that matter for its assignment. */
export interface AssignedJob {
  readonly caller: string;
  /** Whether the job was revoked from a worker before. */
  readonly isRevoked: boolean;
}

/** An assignment that has not ended. */
export interface OpenAssignment<Worker> extends Assignment<Worker> {
  readonly job: AssignedJob;
  /** Position in the order in which jobs were assigned. */
  readonly number: number;
  startedMs: number | undefined;
  /** Whether the worker was told to give the job up. */
  isBeingRevoked: boolean;
}

interface WorkerState<Worker> {
  readonly worker: Worker;
  /** The first one is running, others are assigned in advance. */
  assignments: readonly OpenAssignment<Worker>[];
  /** Whether the running job takes so long that the job in advance was overtaken by another worker's. */
  isSlow: boolean;
}

/** The workers of a queue and the jobs that are assigned to them: one that runs and at most one in advance. */
export class WorkerSet<Worker> {
  #states: WorkerState<Worker>[] = [];
  #assignedCount = 0;
  /** When workers that have not been replaced yet were lost, by `performance.now()`, in order of time. */
  readonly #lostAtMs: number[] = [];

  /** Number of workers. */
  get size(): number {
    return this.#states.length;
  }

  /** Number of workers with a job. */
  get busy(): number {
    return this.#states.filter(({ assignments }) => assignments.length > 0).length;
  }

  /** A worker without a job. */
  get idle(): Worker | undefined {
    return this.#states.find(({ assignments }) => assignments.length === 0)?.worker;
  }

  /** Whether a worker is in the set and has no job. */
  isIdle(worker: Worker): boolean {
    return this.#stateOf(worker)?.assignments.length === 0;
  }

  /** Adds an idle worker, which replaces the one that was lost first, if any. */
  add(worker: Worker): void {
    this.#lostAtMs.shift();
    this.#states.push({ worker, assignments: [], isSlow: false });
  }

  /** Removes a lost worker with its assignments. */
  remove(worker: Worker): void {
    if (!this.#stateOf(worker)) return;
    this.#states = this.#states.filter((state) => state.worker !== worker);
    this.#lostAtMs.push(performance.now());
  }

  /** Assigns a job. It starts at once if the worker is idle. */
  assign(worker: Worker, job: AssignedJob): OpenAssignment<Worker> {
    const state = this.#stateOf(worker)!;
    const assignment: OpenAssignment<Worker> = {
      worker,
      job,
      number: this.#assignedCount++,
      startedMs: undefined,
      isBeingRevoked: false,
    };
    state.assignments = [...state.assignments, assignment];
    startFirst(state);
    return assignment;
  }

  /** Ends an assignment and starts the worker's next one. Returns it, or undefined if it is not open. */
  end(assignment: Assignment<Worker>): OpenAssignment<Worker> | undefined {
    const state = this.#stateOf(assignment.worker);
    const ended = state?.assignments.find((one) => one === assignment);
    if (!state || !ended) return undefined;
    state.assignments = state.assignments.filter((one) => one !== ended);
    startFirst(state);
    return ended;
  }

  /** Number of a caller's jobs that are running or assigned in advance. */
  assignedCount(caller: string): number {
    const all = this.#states.flatMap(({ assignments }) => assignments);
    return all.filter(({ job, isBeingRevoked }) => job.caller === caller && !isBeingRevoked).length;
  }

  /** Jobs that are assigned in advance, first the one behind the oldest running job. */
  inAdvance(): OpenAssignment<Worker>[] {
    return this.#states
      .filter(({ assignments }) => assignments.length > 1)
      .toSorted((one, other) => one.assignments[0]!.startedMs! - other.assignments[0]!.startedMs!)
      .flatMap(({ assignments }) => assignments.slice(1).filter((one) => !one.isBeingRevoked));
  }

  /** Workers that may be assigned a job in advance: those with one job that is not slow. */
  openToAdvance(): Worker[] {
    return this.#states
      .filter(({ assignments, isSlow }) => assignments.length === 1 && !isSlow)
      .map(({ worker }) => worker);
  }

  /** Finds jobs in advance that were assigned before a job that has ended. Marks the jobs that run before them as slow. */
  overtakenBy({ number }: OpenAssignment<Worker>): OpenAssignment<Worker>[] {
    const overtaken = this.inAdvance().filter((one) => one.number < number);
    for (const { worker } of overtaken) this.#stateOf(worker)!.isSlow = true;
    return overtaken;
  }

  /**
   * Estimates for each worker when it will be idle.
   *
   * @param remainingMs estimates the remaining time of a job from the time that it has run.
   */
  idleInMs(remainingMs: (elapsedMs: number) => number): number[] {
    const nowMs = performance.now();
    return [
      ...this.#states.map(({ assignments: [running] }) =>
        running ? remainingMs(nowMs - running.startedMs!) : 0,
      ),
      // A replacement is expected soon at first, and later the longer it takes.
      ...this.#lostAtMs.map((lostMs) => nowMs - lostMs),
    ];
  }

  #stateOf(worker: Worker): WorkerState<Worker> | undefined {
    return this.#states.find((state) => state.worker === worker);
  }
}

function startFirst<Worker>(state: WorkerState<Worker>): void {
  const [first] = state.assignments;
  if (!first || first.startedMs !== undefined) return;
  first.startedMs = performance.now();
  state.isSlow = false;
}
