import { DatabaseError } from "../database/database-error.ts";
import type { KeyRights, Permission } from "../permissions.ts";
import type { PlanLimits } from "../plan-limits.ts";

/** What the users of a plan may do. */
export interface PlanRules extends PlanLimits {
  /** What is switched off; nothing by default. */
  readonly off?: readonly Permission[] | undefined;
}

/** A plan: its name, unique, and its rules. */
export interface Plan extends PlanRules {
  readonly name: string;
  readonly burst: number;
}

/** Keys that a user may have at the same time. */
export const MAX_LIVE_KEYS = 20;

/** A user of the service. */
export interface User {
  /** Random and never changed. It is no credential. */
  readonly id: string;
  /** The first characters of the id, which identify the user in logs and output. */
  readonly fingerprint: string;
  /** Unique. */
  readonly name: string;
  readonly plan: string;
  /** Start of the subscription, inclusive. */
  readonly startsAt: Date;
  /** End of the subscription, exclusive; undefined if it never ends. */
  readonly endsAt: Date | undefined;
  readonly enabled: boolean;
  /** Common name in the client certificates of the user; unique. Undefined if it uses none. */
  readonly certificateSubject: string | undefined;
}

/** A key of a user. The key itself is never stored. */
export interface Key extends KeyRights {
  /** SHA-256 of the key in hexadecimal. */
  readonly hash: string;
  /** The first characters of the hash, which identify the key in output. */
  readonly fingerprint: string;
  /** What it is for; may be empty. */
  readonly name: string;
  readonly createdAt: Date;
  /** End of validity, exclusive; undefined if it never ends. */
  readonly expiresAt: Date | undefined;
  /** Time of the last request with this key, to the minute; undefined if there was none. */
  readonly lastUsedAt: Date | undefined;
}

/** A key to add. */
export type NewKey = Pick<Key, "hash" | "name" | "scopes" | "galleryIds" | "expiresAt">;

/** What happens to other keys when one is added. */
export interface KeyAddition {
  /** The keys of the request, which must be valid. */
  readonly requiredHashes?: readonly string[];
  /** A key of the user that expires at the given time, or earlier if it did before. */
  readonly replaced?: { readonly hash: string; readonly expiresAt: Date };
}

/** How a user is found: by a live key, by the common name of its client certificates, or by its id. */
export type UserSelector =
  | { readonly keyHash: string }
  | { readonly certificateSubject: string }
  | { readonly userId: string };

/** A user with its plan and usage: all that admission needs. */
export interface Account {
  readonly user: User;
  readonly plan: Plan;
  /** Stored successful requests of the requested month. */
  readonly usedThisMonth: number;
  /** End of validity of the key by which the account was found, if it has one. */
  readonly keyExpiresAt: Date | undefined;
  /** The name of that key, if it has one; the names of all if there are several. */
  readonly keyNames: readonly string[];
  /** What that key may be used for; everything if the account was found in another way. */
  readonly rights: KeyRights;
}

/** Number of requests with one outcome, by user, day, key and operation. */
export interface UsageCount {
  readonly userId: string;
  /** YYYY-MM-DD (UTC). */
  readonly day: string;
  /** The fingerprint of the key, which may be deleted by now. Empty for a client certificate. */
  readonly key: string;
  /** Path of the operation without its slash, such as `get_face_vec`. */
  readonly operation: string;
  /** `ok`, or the reason of an error. */
  readonly outcome: string;
  readonly count: number;
}

/** Number of requests of one or all users with one outcome, by month and, if selected, by day and key. */
export interface UsageSum extends Pick<UsageCount, "operation" | "outcome" | "count"> {
  /** YYYY-MM (UTC). */
  readonly month: string;
  readonly day?: string;
  readonly key?: string;
}

/** Usage of one or all users over months (YYYY-MM, inclusive). */
export interface UsageSelection {
  readonly userId?: string | undefined;
  readonly firstMonth: string;
  readonly lastMonth: string;
  readonly byDay?: boolean;
  readonly byKey?: boolean;
}

/** The last use of a key. */
export interface KeyUse {
  readonly hash: string;
  readonly usedAt: Date;
}

/** The only outcome that counts against the monthly quota. */
export const SUCCESS_OUTCOME = "ok";

/** Why a change was rejected. */
export type AccountErrorKind =
  | "userNotFound"
  | "planNotFound"
  | "keyNotFound"
  | "userExists"
  | "planExists"
  | "certificateTaken"
  | "planInUse"
  | "tooManyKeys"
  /** A key may create and delete only keys that can do no more than itself. */
  | "rightsExceeded"
  /** A key that must be valid is not. */
  | "unknownUser";

/** A change that conflicts with the stored accounts. The message is for the administrator. */
export class AccountError extends DatabaseError {
  override readonly name = "AccountError";
  /** Undefined for a fault that only the command line can meet. */
  readonly kind: AccountErrorKind | undefined;

  constructor(message: string, kind?: AccountErrorKind) {
    super(message);
    this.kind = kind;
  }
}

/** The fields of a user that can be changed. A field that is not given keeps its value. */
export type UserChanges = Partial<Omit<User, "id" | "fingerprint" | "name">>;

/** Changes that depend on the user as it is stored, such as an extension. */
export type UserChange = (user: User) => UserChanges;

/** Which users to find, by name. */
export interface UserSearch {
  /** Part of a name, or a fingerprint or plan. Empty for all users. Ignores the case of ASCII letters. */
  readonly query: string;
  /** Only users whose names come after this one. */
  readonly after: string;
  readonly size: number;
  /** The month of the usage, as YYYY-MM. */
  readonly month: string;
}

/** A user and its successful requests of a month. */
export interface UserWithUsage {
  readonly user: User;
  readonly usedThisMonth: number;
}

/**
 * Stores users, keys, plans and usage. Replicas may share one store. Any error other than AccountError means that the
 * store could not be reached; the call may be retried.
 */
export interface AccountStore {
  /** Finds an account with its usage of a month. Undefined if there is none, or its key has expired. */
  findAccount(selector: UserSelector, month: string): Promise<Account | undefined>;
  /** Adds a batch of counts and uses of keys atomically. Adding a batch with the same id again has no effect. */
  addUsage(batchId: string, counts: readonly UsageCount[], keyUses?: readonly KeyUse[]): Promise<void>;
  /** Lists usage, optionally of one user. */
  listUsage(selection?: { readonly userId?: string }): Promise<UsageCount[]>;
  /** Sums usage, by month, day, key, operation and descending count. */
  sumUsage(selection: UsageSelection): Promise<UsageSum[]>;

  /** Lists users by name. */
  listUsers(): Promise<User[]>;
  /** Finds a page of users, and how many users all pages have. */
  searchUsers(search: UserSearch): Promise<{ readonly users: UserWithUsage[]; readonly total: number }>;
  /** Finds the users whose id, fingerprint, name or hash of a key equals the text. */
  findUsers(text: string): Promise<User[]>;
  /** Adds a user with its first key, which may be used for everything. Throws AccountError if something unique is taken, or the plan does not exist. */
  addUser(user: User, keyHash: string): Promise<void>;
  /**
   * Returns the updated user. Of concurrent changes, each one sees the user as the one before has left it. Throws
   * AccountError if the user or the plan does not exist, or the subject is taken, and what the change throws.
   */
  updateUser(userId: string, changes: UserChanges | UserChange): Promise<User>;
  /** Removes a user with its keys, usage and galleries. Their templates are then erased. */
  removeUser(userId: string): Promise<void>;
  /**
   * Waits until removed templates are erased, by default a little. Returns whether they are: otherwise that goes on in
   * the background. Never rejects.
   */
  waitForErasure(maxMs?: number): Promise<boolean>;

  /** Lists the keys of a user, expired ones too, by the time of their creation. */
  listKeys(userId: string): Promise<Key[]>;
  /**
   * Adds a key and returns all keys of the user. Expired ones are removed. Throws AccountError if the user has
   * MAX_LIVE_KEYS keys already, the key is taken, the user or the replaced key does not exist or a required key is no
   * longer valid: a key that was just removed may still be cached, and must not create another one.
   */
  addKey(userId: string, key: NewKey, addition?: KeyAddition): Promise<Key[]>;
  /** Removes a key. Throws AccountError if one of the required keys is no longer valid. */
  removeKey(keyHash: string, requiredHashes?: readonly string[]): Promise<void>;

  /** Lists plans by name. */
  listPlans(): Promise<Plan[]>;
  /** Counts the users of each plan. Plans without users are left out. */
  countUsersByPlan(): Promise<ReadonlyMap<string, number>>;
  /** Adds a plan. Throws AccountError if the name is taken. */
  addPlan(plan: Plan): Promise<void>;
  /** Returns the changed plan. Throws AccountError if it does not exist. */
  updatePlan(name: string, changes: PlanRules): Promise<Plan>;
  /** Removes a plan. Throws AccountError if it does not exist or has users. */
  removePlan(name: string): Promise<void>;

  close(): Promise<void>;
}
