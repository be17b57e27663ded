import { type ContextValues, createContextKey, createContextValues } from "@connectrpc/connect";
import type { PlanRules } from "../accounts/account-store.ts";
import type { KeyRights } from "../permissions.ts";
import { ServiceError } from "./service-error.ts";

/** The outcome of a request whose client left before the response. */
export const CANCELED = "CANCELED";

/** The user on whose behalf a request is made. */
export interface Caller {
  /** Identifies the user in the database; it is not logged. */
  readonly userId: string;
  /** Identifies the user in the log. */
  readonly fingerprint: string;
  /** The rules of its plan. */
  readonly plan: PlanRules;
  /** What its credentials permit. */
  readonly rights: KeyRights;
  /** The names of the keys of the request. */
  readonly keyNames?: readonly string[];
  /** When the first of its keys expires, if one does. */
  readonly keyExpiresAt?: Date | undefined;
  /** SHA-256 of the keys that the request carries; none if a certificate identifies the user. */
  readonly keyHashes: readonly string[];
}

/** The duration of a step of the work on one image. */
export interface StageTime {
  /** The field of the request that holds the image. */
  readonly image: string;
  readonly stage: string;
  readonly milliseconds: number;
}

/** Facts about a request for usage, log, metrics and traces. It holds no content of the request or the response. */
export class RequestRecord {
  /** Undefined if the request is not part of a trace. */
  readonly traceId: string | undefined;
  /** Set once the request is admitted. */
  caller: Caller | undefined;
  /** Computes the client address. Undefined for work that no client asked for. */
  clientAddress: (() => string) | undefined;
  /** Throws ServiceError if the caller may no longer be served. Set for an admitted stream. */
  recheckCaller: (() => Promise<void>) | undefined;
  /** Set if the authentication failed. */
  failedAuth: { readonly address: string; readonly credential: string } | undefined;
  /** `ok`, or the reason of an error. */
  outcome: string | undefined;
  /** Whether faces were stored or sent. Then the request counts against the quota, however it ends. */
  hasEffect = false;
  /** Total size of all images, as sent or fetched. */
  imageBytes = 0;
  /** Number of faces found in each image. */
  readonly faces: number[] = [];
  /** In the order in which the steps ended. */
  readonly stages: StageTime[] = [];

  constructor(traceId?: string) {
    this.traceId = traceId;
  }
}

const RECORD = createContextKey<RequestRecord | undefined>(undefined);

/** Creates Connect's context values for a request with this record. */
export function contextValuesWith(record: RequestRecord | undefined): ContextValues {
  return createContextValues().set(RECORD, record);
}

/** Returns the record of the request with these context values. */
export function recordFrom(values: ContextValues): RequestRecord | undefined {
  return values.get(RECORD);
}

/** Records the outcome of a request: `ok`, or the reason of an error. */
export function setOutcome(values: ContextValues, outcome: string): void {
  const record = recordFrom(values);
  if (record) record.outcome = outcome;
}

/** Returns the record of an admitted request. Throws ServiceError `internal` if it was not admitted. */
export function admittedRecordFrom(values: ContextValues): RequestRecord & { readonly caller: Caller } {
  const record = recordFrom(values);
  if (!record?.caller) throw new ServiceError("internal", undefined, { cause: "a request without a caller" });
  return record as RequestRecord & { readonly caller: Caller };
}

/** Returns the user on whose behalf a request is made. Throws ServiceError `internal` if it was not admitted. */
export function callerFrom(values: ContextValues): Caller {
  return admittedRecordFrom(values).caller;
}
