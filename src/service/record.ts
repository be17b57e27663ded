import { AsyncLocalStorage } from "node:async_hooks";

/** One on whose behalf a request is made. */
export interface Caller {
  /** What the log calls the user. */
  readonly fingerprint: string;
  /** The most bytes of one image, where the user's plan says so. */
  readonly maxImageBytes: number | undefined;
}

/** How long a step of the work on one image took. */
export interface StageTime {
  readonly image: string;
  readonly stage: string;
  readonly milliseconds: number;
}

/** What becomes known of a request while it is served, for those who count and watch: nothing of its content. */
export class RequestRecord {
  readonly caller: Caller | undefined;
  /** `ok`, or the reason of an error. */
  outcome: string | undefined;
  /** Of all images, as they were sent or fetched. */
  imageBytes = 0;
  /** Faces found, an entry for each image that was looked at. */
  readonly faces: number[] = [];
  /** In the order in which they came to an end. */
  readonly stages: StageTime[] = [];

  constructor(caller?: Caller) {
    this.caller = caller;
  }
}

// Not among the values of Connect's context: these do not pass from plain HTTP to the operations.
const records = new AsyncLocalStorage<RequestRecord>();

/** Does some work, and all that comes of it, under a record. */
export function recordWork(record: RequestRecord, work: () => void): void {
  records.run(record, work);
}

/** The record of the request that is being served; requests that need no user have none. */
export function currentRecord(): RequestRecord | undefined {
  return records.getStore();
}

/** Notes how the request that is being served ended: `ok`, or the reason of an error. */
export function noteOutcome(outcome: string): void {
  const record = currentRecord();
  if (record) record.outcome = outcome;
}
