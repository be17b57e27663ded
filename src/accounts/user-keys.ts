import { AccountError, type AccountStore, type Key } from "./account-store.ts";
import { createKey, fingerprintOf, hashKey } from "./key.ts";

const DAY_MS = 24 * 3_600_000;

/** How long the old key stays valid after a rotation, in days. */
export const GRACE_DAYS = { default: 7, max: 3650 };

/** Whether a key has not expired. */
export function isLive({ expiresAt }: Key): boolean {
  return expiresAt === undefined || expiresAt.getTime() > Date.now();
}

/** A key that was just created. */
export interface CreatedKey {
  /** The key itself, which is not stored. */
  readonly key: string;
  readonly fingerprint: string;
  /** All keys of the user, also expired ones. */
  readonly keys: readonly Key[];
}

/**
 * Adds a key and lets the others expire after the grace. The required keys must be valid: they are those of the request.
 * Throws AccountError.
 */
export async function rotateUserKey(
  store: AccountStore,
  userId: string,
  graceDays: number = GRACE_DAYS.default,
  requiredHashes: readonly string[] = [],
): Promise<CreatedKey> {
  const key = createKey();
  const hash = hashKey(key);
  const othersExpireAt = new Date(Date.now() + graceDays * DAY_MS);
  // Nothing may fail after the key is stored, because it could not be shown any more.
  const keys = await store.rotateKey(userId, hash, othersExpireAt, requiredHashes);
  return { key, fingerprint: fingerprintOf(hash), keys };
}

/** Finds a key of a user by its fingerprint. Throws AccountError if there is none. */
export async function findUserKey(store: AccountStore, userId: string, fingerprint: string): Promise<Key> {
  const found = (await store.listKeys(userId)).find((key) => key.fingerprint === fingerprint);
  if (!found) throw new AccountError("The user has no key with this fingerprint", "keyNotFound");
  return found;
}
