import { AccountError, type AccountStore, type Key } from "./account-store.ts";
import { createKey, hashKey } from "./key.ts";

const DAY_MS = 24 * 3_600_000;

/** How long the old key stays valid after a rotation, in days. */
export const GRACE_DAYS = { default: 7, max: 3650 };

/** Whether a key has not expired. */
export function isLive({ expiresAt }: Key): boolean {
  return expiresAt === undefined || expiresAt.getTime() > Date.now();
}

/** Adds a key and lets the others expire after the grace. Throws AccountError. */
export async function rotateUserKey(
  store: AccountStore,
  userId: string,
  graceDays: number = GRACE_DAYS.default,
): Promise<{ readonly key: string; readonly keys: Key[] }> {
  const key = createKey();
  await store.rotateKey(userId, hashKey(key), new Date(Date.now() + graceDays * DAY_MS));
  return { key, keys: await store.listKeys(userId) };
}

/** Finds a key of a user by its fingerprint. Throws AccountError if there is none. */
export async function findUserKey(store: AccountStore, userId: string, fingerprint: string): Promise<Key> {
  const found = (await store.listKeys(userId)).find((key) => key.fingerprint === fingerprint);
  if (!found) throw new AccountError("The user has no key with this fingerprint", "keyNotFound");
  return found;
}
