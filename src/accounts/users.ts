import { AccountError, type AccountStore, type User } from "./account-store.ts";
import { createKey, createUserId, fingerprintOf, hashKey } from "./key.ts";

/** The plan of a new user if none is chosen. */
export const DEFAULT_PLAN = "trial";

/** The format of the names of users and plans, and of certificate subjects, for error messages. */
export const NAME_FORMAT = "1 to 100 printable characters without leading or trailing spaces";

const DAY_MS = 24 * 3_600_000;
/** By how many days a subscription can be extended at once. */
export const MAX_EXTENSION_DAYS = 3_650;
/** The last year with four digits. */
export const MAX_SUBSCRIPTION_YEAR = 9999;

/** Whether a text can be the name of a user or plan. */
export function isName(text: string): boolean {
  return /^\P{C}{1,100}$/u.test(text) && text.trim() === text;
}

/** A user to add. */
export type NewUser = Pick<User, "name" | "plan" | "startsAt" | "endsAt" | "certificateSubject"> & {
  /** A generated key by default. */
  readonly key?: string | undefined;
};

/** Adds a user with its first key and returns both. Throws AccountError. */
export async function createUser(
  store: AccountStore,
  { key = createKey(), ...options }: NewUser,
): Promise<{ readonly user: User; readonly key: string }> {
  const id = createUserId();
  const user = { id, fingerprint: fingerprintOf(id), enabled: true, ...options };
  await store.addUser(user, hashKey(key));
  return { user, key };
}

/** Finds a user by id, fingerprint or name. Throws AccountError unless exactly one matches. */
export async function findUser(store: AccountStore, text: string): Promise<User> {
  return onlyUser(await store.findUsers(text), "name or fingerprint");
}

/** Finds a user by fingerprint, name or key. Throws AccountError unless exactly one matches. */
export async function findUserByKeyOrName(store: AccountStore, text: string): Promise<User> {
  const found = [...(await store.findUsers(hashKey(text))), ...(await store.findUsers(text))];
  return onlyUser(found, "name, fingerprint or key");
}

function onlyUser([user, ...others]: readonly User[], criteria: string): User {
  // The message does not repeat the text, because it may be a key.
  if (!user) throw new AccountError(`No user has this ${criteria}`, "userNotFound");
  if (others.some(({ id }) => id !== user.id))
    throw new AccountError(`More than one user has this ${criteria}`, "userNotFound");
  return user;
}

/**
 * The end of a subscription that is extended: from its end, or from now if it has ended or has no end. Check the result
 * with `isSubscriptionTime`.
 */
export function extendSubscription({ endsAt }: User, days: number): Date {
  return new Date(Math.max(Date.now(), endsAt?.getTime() ?? 0) + days * DAY_MS);
}

/** Whether a time can be the start or end of a subscription. Both databases store years of four digits. */
export function isSubscriptionTime(time: Date): boolean {
  const year = time.getUTCFullYear();
  return year >= 1 && year <= MAX_SUBSCRIPTION_YEAR;
}

/** Whether a subscription that ends at a time, or never, ends after it starts. */
export function isSubscriptionPeriod(startsAt: Date, endsAt: Date | undefined): boolean {
  return endsAt === undefined || endsAt > startsAt;
}

/** Whether a subscription admits requests. */
export type SubscriptionState = "active" | "not started" | "ended" | "disabled";

/** The current state of a subscription: only an active user is admitted. */
export function subscriptionState({ startsAt, endsAt, enabled }: User): SubscriptionState {
  const now = new Date();
  if (!enabled) return "disabled";
  if (startsAt > now) return "not started";
  return endsAt && endsAt <= now ? "ended" : "active";
}
