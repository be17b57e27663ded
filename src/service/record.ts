import { type ContextValues, createContextKey, createContextValues } from "@connectrpc/connect";

/** The user on whose behalf a request is made. */
export interface Caller {
  /** What the log calls the user. */
  readonly fingerprint: string;
  /** The most bytes of one image, where the user's plan has such a limit. */
  readonly maxImageBytes: number | undefined;
}

/** How long a step of the work on one image took. */
export interface StageTime {
  readonly image: string;
  readonly stage: string;
  readonly milliseconds: number;
}

/** What becomes known of a request while it is served, for usage, log, metrics and traces: nothing of its content. */
export class RequestRecord {
  /** Set once the request is admitted. */
  caller: Caller | undefined;
  /** `ok`, or the reason of an error. */
  outcome: string | undefined;
  /** Of all images, as they were sent or fetched. */
  imageBytes = 0;
  /** Faces found, an entry for each image that was analysed. */
  readonly faces: number[] = [];
  /** In the order in which they ended. */
  readonly stages: StageTime[] = [];
}

const RECORD = createContextKey<RequestRecord | undefined>(undefined);

/** The values of Connect's context under which a request is served. */
export function contextWith(record: RequestRecord | undefined): ContextValues {
  return createContextValues().set(RECORD, record);
}

/** The record of the request that is served under these values. */
export function recordIn(values: ContextValues): RequestRecord | undefined {
  return values.get(RECORD);
}

/** Notes how the request that is served under these values ended: `ok`, or the reason of an error. */
export function noteOutcome(values: ContextValues, outcome: string): void {
  const record = recordIn(values);
  if (record) record.outcome = outcome;
}
