/** What users of one kind may do. A limit that is undefined does not exist. */
export interface Plan {
  readonly name: string;
  readonly requestsPerSecond: number | undefined;
  /** How many requests may come at once before the rate holds; at least 1. */
  readonly burst: number;
  /** Successful requests in one calendar month, in UTC. */
  readonly requestsPerMonth: number | undefined;
  readonly maxImageBytes: number | undefined;
}

/** One who may use the service. The id itself is stored nowhere. */
export interface User {
  /** SHA-256 of the id in hexadecimal: the key by which a user is stored. */
  readonly idHash: string;
  /** The first characters of the hash, by which logs and people speak of a user. */
  readonly fingerprint: string;
  /** Unique. */
  readonly name: string;
  readonly plan: string;
  /** The subscription lasts from one moment up to, not including, the other; without an end it goes on. */
  readonly startsAt: Date;
  readonly endsAt: Date | undefined;
  readonly enabled: boolean;
}

/** What admission needs to know of a user, in one look. */
export interface Account {
  readonly user: User;
  readonly plan: Plan;
  /** Successful requests of the month that was asked for, as far as they are stored. */
  readonly usedThisMonth: number;
}

/** How often an operation ended in a way, for one user in one month. */
export interface UsageCount {
  readonly idHash: string;
  /** YYYY-MM, in UTC. */
  readonly month: string;
  /** Path of the operation without its slash, `get_face_vec`. */
  readonly operation: string;
  /** `ok`, or the reason of an error. */
  readonly outcome: string;
  readonly count: number;
}

/** The outcome that counts against the month. */
export const SUCCESS_OUTCOME = "ok";

/** A change that the stored accounts do not allow; the message is for the administrator. */
export class AccountError extends Error {
  override readonly name = "AccountError";
}

/**
 * Where users, plans and usage are kept. Replicas may share one. Anything but an AccountError that a
 * method throws means that the store could not be reached, and the call may be made again.
 */
export interface AccountStore {
  /** The account of an id with the successes of a month, or undefined for an id that is unknown. */
  findAccount(idHash: string, month: string): Promise<Account | undefined>;
  /** Adds counts, all or none. A batch that was added before, by its id, is not added again. */
  addUsage(batchId: string, counts: readonly UsageCount[]): Promise<void>;
  /** Counts of one user or all, of one month or all. */
  listUsage(selection?: { readonly idHash?: string; readonly month?: string }): Promise<UsageCount[]>;

  /** In the order of their names. */
  listUsers(): Promise<User[]>;
  /** Those whose id hash, fingerprint or name is the text. */
  findUsers(text: string): Promise<User[]>;
  /** Throws AccountError for a name or id that is taken, or a plan that does not exist. */
  addUser(user: User): Promise<void>;
  /** Gives the user as it is now. Throws AccountError where the user or the plan does not exist. */
  changeUser(
    idHash: string,
    changes: Partial<Pick<User, "plan" | "startsAt" | "endsAt" | "enabled">>,
  ): Promise<User>;
  /** Removes a user and all that is stored about it. */
  removeUser(idHash: string): Promise<void>;

  /** In the order of their names. */
  listPlans(): Promise<Plan[]>;
  /** Adds a plan, or puts it in the place of the one of its name. */
  setPlan(plan: Plan): Promise<void>;

  close(): Promise<void>;
}
