import { setImmediate as settle } from "node:timers/promises";
import { type Assignment, type JobOptions, Queue } from "../../src/workers/queue.ts";
import { QueueError } from "../../src/workers/queue-error.ts";

/** A job as a simulated worker has it. */
interface SimulatedJob {
  readonly assignment: Assignment<string>;
  readonly costMs: number;
  readonly finish: (outcome: "done" | "revoked" | "lost") => void;
}

/**
 * A queue whose workers only wait, by the timers of the test, so that minutes of load take a moment. Use fake timers
 * for `performance` and `setTimeout`.
 */
export class SimulatedWorkers {
  readonly queue: Queue<string>;
  readonly #jobs = new Map<string, SimulatedJob[]>();

  constructor(count: number, maxWaitMs: number) {
    this.queue = new Queue<string>(maxWaitMs, (worker) => this.#revokeLast(worker));
    for (let i = 0; i < count; i++) this.add(`worker ${i}`);
  }

  add(worker: string): void {
    this.#jobs.set(worker, []);
    this.queue.addWorker(worker);
  }

  /** Removes a worker with the job that it runs; the one in advance goes to another. */
  lose(worker: string): void {
    const [running, inAdvance] = this.#jobs.get(worker)!;
    this.#jobs.delete(worker);
    this.queue.removeWorker(worker);
    running?.finish("lost");
    inAdvance?.finish("revoked");
  }

  /** Runs a job that takes so long on a worker; resolves with how long it waited, throws QueueError if it was not done. */
  async run(costMs: number, options: JobOptions = {}): Promise<number> {
    const startMs = performance.now();
    for (let state = options.state ?? "new"; ; state = "revoked") {
      const assignment = await this.queue.acquire({ ...options, state });
      const outcome = await new Promise((finish) => this.#give({ assignment, costMs, finish }));
      if (outcome === "done") return assignment.startedMs! - startMs;
      if (outcome === "lost") throw new QueueError("workerLost", "The worker was lost.");
    }
  }

  #give(job: SimulatedJob): void {
    const jobs = this.#jobs.get(job.assignment.worker);
    if (jobs?.push(job) === 1) this.#startFirst(job.assignment.worker);
  }

  #startFirst(worker: string): void {
    const job = this.#jobs.get(worker)?.[0];
    if (!job) return;
    setTimeout(() => {
      if (!this.#jobs.get(worker)?.shift()) return;
      job.finish("done");
      this.queue.end(job.assignment);
      this.#startFirst(worker);
    }, job.costMs);
  }

  #revokeLast(worker: string): void {
    void settle().then(() => {
      const jobs = this.#jobs.get(worker);
      if (!jobs || jobs.length < 2) return;
      const { assignment, finish } = jobs.pop()!;
      this.queue.end(assignment);
      finish("revoked");
    });
  }
}
