// The JSON of AccountService and AdminService, as far as the pages use it. Integers of 64 bits are text.
import type { LimitName } from "../../plan-limits.ts";

/** See visage.v1.PlanLimits. */
export type PlanLimits = { readonly [Name in LimitName]?: number | string };

/** See visage.v1.Plan. */
export interface Plan {
  readonly name: string;
  readonly limits: PlanLimits;
  /** The permissions that are switched off. */
  readonly off: readonly string[];
}

/** See visage.v1.Subscription. Times are RFC 3339. */
export interface Subscription {
  readonly state: `SUBSCRIPTION_STATE_${"ACTIVE" | "NOT_STARTED" | "ENDED" | "DISABLED"}`;
  readonly startTime: string;
  readonly endTime?: string;
}

/** See visage.v1.Key. */
export interface Key {
  readonly fingerprint: string;
  readonly createTime: string;
  readonly expireTime?: string;
  readonly lastUseTime?: string;
  readonly current: boolean;
  readonly name: string;
  /** Empty for everything. */
  readonly scopes: readonly string[];
  /** Empty for all. */
  readonly galleryIds: readonly string[];
}

/** See visage.v1.CreateKeyRequest and CreateUserKeyRequest. */
export interface KeyRequest {
  readonly name?: string;
  readonly scopes?: readonly string[];
  readonly galleryIds?: readonly string[];
  readonly replaces?: string;
  readonly graceDays?: number;
}

/** See visage.v1.UsageCount. */
export interface UsageCount {
  readonly day: string;
  /** Missing in the usage of all users. */
  readonly key?: string;
  readonly operation: string;
  readonly outcome: string;
  readonly count: string;
}

/** See visage.v1.GetAccountResponse. */
export interface Account {
  readonly name: string;
  readonly fingerprint: string;
  readonly plan: Plan;
  readonly subscription: Subscription;
  readonly quota: {
    readonly month: string;
    readonly used: string;
    readonly remaining?: string;
    readonly resetTime: string;
  };
  readonly keys: readonly Key[];
}

/** See visage.v1.CreateKeyResponse and CreateUserKeyResponse. */
export interface CreatedKey {
  readonly key: string;
  readonly keys: readonly Key[];
}

/** See visage.v1.User. */
export interface User {
  readonly userId: string;
  readonly fingerprint: string;
  readonly name: string;
  readonly plan: string;
  readonly subscription: Subscription;
  readonly enabled: boolean;
  readonly certificateSubject?: string;
  readonly usedThisMonth: string;
}

/** See visage.v1.PlanSummary. */
export interface PlanSummary {
  readonly plan: Plan;
  readonly userCount: number;
}
