import { type ContextValues, createContextKey, createContextValues } from "@connectrpc/connect";

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

const RECORD = createContextKey<RequestRecord | undefined>(undefined);

/** The values of Connect's context under which a request is served. */
export function contextWith(record: RequestRecord | undefined): ContextValues {
  return createContextValues().set(RECORD, record);
}

/** The record of the request that is served under these values; requests that need no user have none. */
export function recordIn(values: ContextValues): RequestRecord | undefined {
  return values.get(RECORD);
}

/** Notes how the request that is served under these values ended: `ok`, or the reason of an error. */
export function noteOutcome(values: ContextValues, outcome: string): void {
  const record = recordIn(values);
  if (record) record.outcome = outcome;
}
