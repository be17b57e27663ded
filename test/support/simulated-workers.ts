import { setImmediate as settle } from "node:timers/promises";
import { type Assignment, type JobOptions, Queue } from "../../src/workers/queue.ts";
import { QueueError } from "../../src/workers/queue-error.ts";

/** A job that is assigned to a simulated worker. */
interface SimulatedJob {
  readonly assignment: Assignment<string>;
  readonly durationMs: number;
  readonly finish: (outcome: "done" | "revoked" | "lost") => void;
}

/**
 * A queue with workers that only wait. With fake timers for `performance` and `setTimeout`, minutes of load take a
 * moment.
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

  /** Removes a worker. Its running job is lost, and the job in advance goes to another worker. */
  lose(worker: string): void {
    const [running, inAdvance] = this.#jobs.get(worker)!;
    this.#jobs.delete(worker);
    this.queue.removeWorker(worker);
    running?.finish("lost");
    inAdvance?.finish("revoked");
  }

  /** Runs a job of this duration. Returns how long it waited; throws QueueError if it was not done. */
  async run(durationMs: number, options: JobOptions = {}): Promise<number> {
    const startMs = performance.now();
    for (let state = options.state ?? "new"; ; state = "revoked") {
      const assignment = await this.queue.acquire({ ...options, state });
      const outcome = await new Promise((finish) => this.#send({ assignment, durationMs, finish }));
      if (outcome === "done") return assignment.startedMs! - startMs;
      if (outcome === "lost") throw new QueueError("workerLost", "The worker was lost.");
    }
  }

  #send(job: SimulatedJob): void {
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
    }, job.durationMs);
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
