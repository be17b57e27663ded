import type { KeyRights } from "../permissions.ts";
import type { PlanRules } from "./account-store.ts";

/** State of a rate limit or quota. */
export interface LimitStatus {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the full limit is available again. */
  readonly resetSeconds: number;
}

/** The user of an admitted request. */
export interface Caller {
  /** The id of the user. */
  readonly userId: string;
  readonly fingerprint: string;
  /** The rules of its plan. */
  readonly plan: PlanRules;
  /** What its credentials permit. */
  readonly rights: KeyRights;
  /** When the first of its keys expires, if one does. */
  readonly keyExpiresAt?: Date | undefined;
  /** The names of its keys. */
  readonly keyNames?: readonly string[];
  /** SHA-256 of the keys that the request carries. */
  readonly keyHashes: readonly string[];
  /** State of the monthly quota; undefined if the plan has none. */
  readonly limits: LimitStatus | undefined;
  /**
   * Ends the request, counts it and releases its reserved quota. Every admitted request must call it; only the first
   * call has an effect. The outcome is `ok` or the reason of an error.
   */
  finish(operation: string, outcome: string): void;
  /** Ends the request without counting it: the items of a stream are counted instead. */
  release(): void;
}

/** Creates a caller without limits, whose requests are not counted. */
export function createUncountedCaller(userId: string, fingerprint: string): Caller {
  const nothing = () => {};
  const rules = { plan: {}, rights: {}, keyHashes: [], limits: undefined };
  return { userId, fingerprint, ...rules, finish: nothing, release: nothing };
}

/** Why a request is not admitted. A disabled user gets the same kind as an unknown one. */
export type RejectionKind =
  | "noUserId"
  | "unknownUser"
  | "noSubscription"
  | "quotaSpent"
  | "tooManyRequests"
  | "tooManyInFlight"
  | "accountsUnavailable";

/** A failed authentication, for the log. */
export interface FailedAuth {
  /** Client address. Empty if the client has already left. */
  readonly address: string;
  /** The kind of credential that failed, or that was not checked because too many have failed. */
  readonly credential: "none" | "key" | "certificate" | "admin key";
}

/** The result for a request that is not admitted. */
export interface Rejection {
  readonly admitted: false;
  readonly kind: RejectionKind;
  /** A more precise message than the one of the kind, if there is one. */
  readonly message: string | undefined;
  /** A positive integer; undefined if a retry cannot succeed. */
  readonly retryAfterSeconds: number | undefined;
  /**
   * How long a caller that can wait should wait: until the next token of the rate limit, or until a request in flight may
   * have released its quota. Undefined for other rejections.
   */
  readonly waitMs?: number;
  /** State of the limit that was exceeded: the monthly quota or the rate limit. */
  readonly limits: LimitStatus | undefined;
  /** Set if no user was identified. */
  readonly failedAuth?: FailedAuth;
}

/** Whether a request is admitted, and for whom. */
export type AdmissionResult = { readonly admitted: true; readonly caller: Caller } | Rejection;

interface RejectionDetails {
  readonly message?: string | undefined;
  readonly retrySeconds?: number | undefined;
  readonly limits?: LimitStatus | undefined;
  readonly failedAuth?: FailedAuth;
}

/** Creates a rejection. Its delay is rounded up to whole seconds. */
export function createRejection(
  kind: RejectionKind,
  { message, retrySeconds, limits, failedAuth }: RejectionDetails = {},
): Rejection {
  const retryAfterSeconds = retrySeconds && Math.max(1, Math.ceil(retrySeconds));
  return { admitted: false, kind, message, retryAfterSeconds, limits, ...(failedAuth && { failedAuth }) };
}
