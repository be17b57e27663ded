/** The limits of a plan. A limit that is undefined does not apply. */
export interface Plan {
  readonly name: string;
  readonly requestsPerSecond: number | undefined;
  /** Number of requests that may exceed the rate at once; at least 1. */
  readonly burst: number;
  /** Successful requests per calendar month (UTC). */
  readonly requestsPerMonth: number | undefined;
  readonly maxImageBytes: number | undefined;
}

/** Keys that a user may have at the same time, so that one can be replaced while both are valid. */
export const MAX_LIVE_KEYS = 2;

/** A user of the service. The user id itself is never stored. */
export interface User {
  /** SHA-256 of the user id in hexadecimal; the primary key. */
  readonly idHash: string;
  /** The first characters of the hash, which identify the user in logs and output. */
  readonly fingerprint: string;
  /** Unique. */
  readonly name: string;
  readonly plan: string;
  /** Start of the subscription, inclusive. */
  readonly startsAt: Date;
  /** End of the subscription, exclusive; undefined if it never ends. */
  readonly endsAt: Date | undefined;
  readonly enabled: boolean;
}

/** A user with its plan and usage: all that admission needs. */
export interface Account {
  readonly user: User;
  readonly plan: Plan;
  /** Stored successful requests of the requested month. */
  readonly usedThisMonth: number;
}

/** Number of requests with one outcome, by user, month and operation. */
export interface UsageCount {
  readonly idHash: string;
  /** YYYY-MM (UTC). */
  readonly month: string;
  /** Path of the operation without its slash, such as `get_face_vec`. */
  readonly operation: string;
  /** `ok`, or the reason of an error. */
  readonly outcome: string;
  readonly count: number;
}

/** The only outcome that counts against the monthly quota. */
export const SUCCESS_OUTCOME = "ok";

/** A change that conflicts with the stored accounts. The message is for the administrator. */
export class AccountError extends Error {
  override readonly name = "AccountError";
}

/** There is no account database, and it was not to be created. */
export class MissingDatabaseError extends AccountError {
  constructor() {
    super("There is no account database");
  }
}

/**
 * Stores users, plans and usage. Replicas may share one store. Any error other than AccountError means that the store
 * could not be reached; the call may be retried.
 */
export interface AccountStore {
  /** Finds the account of an id hash with its usage of a month; undefined for an unknown id. */
  findAccount(idHash: string, month: string): Promise<Account | undefined>;
  /** Adds a batch of counts atomically. Adding a batch with the same id again has no effect. */
  addUsage(batchId: string, counts: readonly UsageCount[]): Promise<void>;
  /** Lists usage, optionally of one user or one month. */
  listUsage(selection?: { readonly idHash?: string; readonly month?: string }): Promise<UsageCount[]>;

  /** Lists users by name. */
  listUsers(): Promise<User[]>;
  /** Finds the users whose id hash, fingerprint or name equals the text. */
  findUsers(text: string): Promise<User[]>;
  /** Throws AccountError if the name or id is taken, or the plan does not exist. */
  addUser(user: User): Promise<void>;
  /** Returns the updated user. Throws AccountError if the user or the plan does not exist. */
  updateUser(
    idHash: string,
    changes: Partial<Pick<User, "plan" | "startsAt" | "endsAt" | "enabled">>,
  ): Promise<User>;
  /** Removes a user and its usage. */
  removeUser(idHash: string): Promise<void>;

  /** Lists plans by name. */
  listPlans(): Promise<Plan[]>;
  /** Adds a plan, or replaces the plan of the same name. */
  setPlan(plan: Plan): Promise<void>;
  /** Removes a plan. Throws AccountError if it does not exist or has users. */
  removePlan(name: string): Promise<void>;

  close(): Promise<void>;
}
