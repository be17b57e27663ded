import type { EnrolRow } from "./enrol-row.ts";
import type { Enrolment } from "./gallery-api.ts";

/** How many photos are sent at the same time. */
const MAX_IN_FLIGHT = 2;

/** What a queue does with its photos and whom it notifies. */
export interface EnrolQueueOptions {
  /** Enrols one photo, and shows its outcome in its row. Never rejects for a photo that fails. */
  enrol(row: EnrolRow, signal: AbortSignal): Promise<void>;
  /** Called after each change of a photo, and when the queue starts and ends. */
  onChange(): void;
  /** Called when no photo of a known person is left. */
  onEnd(): void;
}

/** The photos to enrol. They wait until their person is known. */
export class EnrolQueue {
  readonly #options: EnrolQueueOptions;
  #rows: readonly EnrolRow[] = [];
  #running: AbortController | undefined;

  constructor(options: EnrolQueueOptions) {
    this.#options = options;
  }

  get rows(): readonly EnrolRow[] {
    return this.#rows;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Counts the photos of this run, or of the last one, in some states. */
  count(...states: readonly EnrolRow["state"][]): number {
    return this.#rows.filter(({ state, isOld }) => !isOld && states.includes(state)).length;
  }

  /** Adds photos. Those that are enrolled are removed, unless others are still in progress. Failures stay. */
  add(rows: readonly EnrolRow[]): void {
    const isDone = ({ state }: EnrolRow) => state === "enrolled" || state === "known";
    const kept = this.isRunning ? this.#rows : this.#rows.filter((row) => !isDone(row));
    this.#rows = [...kept, ...rows];
  }

  /** Removes photos. Returns their number. */
  remove(isRemoved: (row: EnrolRow) => boolean): number {
    const before = this.#rows.length;
    this.#rows = this.#rows.filter((row) => !isRemoved(row));
    return before - this.#rows.length;
  }

  /** Names the person of all photos that have none. */
  assign(enrolment: Enrolment): void {
    for (const row of this.#rows) {
      if (row.enrolment) continue;
      row.enrolment = enrolment;
      row.wait();
    }
  }

  /** Enrols the photos whose person is known, unless that is in progress. */
  async run(): Promise<void> {
    if (this.#running) return;
    const controller = new AbortController();
    this.#running = controller;
    for (const row of this.#rows) row.isOld = row.isFinished;
    this.#options.onChange();
    await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, () => this.#work(controller.signal)));
    // Another gallery may have been opened in the meantime.
    if (this.#running !== controller) return;
    this.#running = undefined;
    this.#options.onChange();
    this.#options.onEnd();
  }

  /** Cancels what is in progress. Those photos can be tried again. */
  cancel(): void {
    this.#running?.abort();
  }

  /** Cancels what is in progress and forgets all photos. */
  clear(): void {
    this.cancel();
    this.#running = undefined;
    this.#rows = [];
  }

  async #work(signal: AbortSignal): Promise<void> {
    // A cancelled run goes on: it marks the photos that wait. Not so if the photos are of another gallery now.
    while (this.#running?.signal === signal) {
      // One photo of a person at a time, so that each is compared with those before it.
      const busy = new Set(this.#rows.filter(({ state }) => state === "sending").map(personOf));
      const row = this.#rows.find(
        (row) => row.state === "waiting" && row.enrolment && !busy.has(personOf(row)),
      );
      if (!row) return;
      await this.#options.enrol(row, signal);
      this.#options.onChange();
    }
  }
}

function personOf({ enrolment }: EnrolRow): string | undefined {
  return enrolment?.personId;
}
