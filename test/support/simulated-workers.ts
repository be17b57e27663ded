import { type JobOptions, Queue } from "../../src/workers/queue.ts";
import { QueueError } from "../../src/workers/queue-error.ts";

/**
 * A queue with workers that only wait. With fake timers for `performance` and `setTimeout`, minutes of load take a
 * moment.
 */
export class SimulatedWorkers {
  readonly queue: Queue<string>;
  /** By worker: lets its job fail. */
  readonly #onLoss = new Map<string, (error: QueueError) => void>();

  constructor(count: number, maxWaitMs: number) {
    this.queue = new Queue<string>(maxWaitMs);
    for (let i = 0; i < count; i++) this.add(`worker ${i}`);
  }

  add(worker: string): void {
    this.queue.addWorker(worker);
  }

  /** Removes a worker. Its job is lost. */
  lose(worker: string): void {
    this.queue.removeWorker(worker);
    this.#onLoss.get(worker)?.(new QueueError("workerLost", "The worker was lost."));
  }

  /** Runs a job of this duration. Returns how long it waited; throws QueueError if it was not done. */
  async run(durationMs: number, options?: JobOptions): Promise<number> {
    const queuedMs = performance.now();
    const worker = await this.queue.acquire(options);
    const waitMs = performance.now() - queuedMs;
    await new Promise<void>((resolve, reject) => {
      this.#onLoss.set(worker, reject);
      setTimeout(resolve, durationMs);
    });
    this.queue.release(worker);
    return waitMs;
  }
}
