import { isWithinRights, type KeyRights } from "../permissions.ts";
import { AccountError, type AccountStore, type Key, type NewKey } from "./account-store.ts";
import { createKey, fingerprintOf, hashKey } from "./key.ts";

const DAY_MS = 24 * 3_600_000;

/** How long a replaced key stays valid, in days. */
export const GRACE_DAYS = { default: 7, max: 3650 };

/** Galleries for which one key can be used, unless it can be used for all. */
export const MAX_KEY_GALLERIES = 20;

/** Whether a key has not expired. */
export function isLive({ expiresAt }: Pick<Key, "expiresAt">): boolean {
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

/** What a key to create should be. What is missing is as in the replaced key, or as the creator's own. */
export type KeyRequest = Partial<Omit<NewKey, "hash">> & {
  readonly replaces?: { readonly fingerprint: string; readonly graceDays?: number | undefined } | undefined;
};

/** Who creates a key or deletes one. */
export interface KeyManager {
  readonly rights: KeyRights;
  readonly keyExpiresAt?: Date | undefined;
  /** Its own keys, which must be valid. */
  readonly keyHashes: readonly string[];
}

/**
 * Creates a key. Throws AccountError, with the kind `rightsExceeded` for a key that can do more than its creator or is
 * valid for longer, or that replaces such a key.
 */
export async function createUserKey(
  store: AccountStore,
  userId: string,
  { replaces, ...request }: KeyRequest,
  manager: KeyManager,
): Promise<CreatedKey> {
  const replaced = replaces && (await findUserKey(store, userId, replaces.fingerprint));
  if (replaced) requireWithin(replaced, manager);
  const { scopes, galleryIds } = manager.rights;
  const template = replaced ?? { name: "", scopes, galleryIds, expiresAt: manager.keyExpiresAt };
  const newKey = {
    name: request.name ?? template.name,
    scopes: request.scopes ?? template.scopes,
    galleryIds: request.galleryIds ?? template.galleryIds,
    expiresAt: request.expiresAt ?? template.expiresAt,
  };
  requireWithin(newKey, manager);
  requireShorter(newKey, manager);
  const key = createKey();
  const hash = hashKey(key);
  const graceMs = (replaces?.graceDays ?? GRACE_DAYS.default) * DAY_MS;
  // Nothing may fail after the key is stored, because it could not be shown any more.
  const keys = await store.addKey(
    userId,
    { hash, ...newKey },
    {
      requiredHashes: manager.keyHashes,
      ...(replaced && { replaced: { hash: replaced.hash, expiresAt: new Date(Date.now() + graceMs) } }),
    },
  );
  return { key, fingerprint: fingerprintOf(hash), keys };
}

/** Deletes a key. Throws AccountError, with the kind `rightsExceeded` for a key that can do more than the manager. */
export async function deleteUserKey(store: AccountStore, key: Key, manager: KeyManager): Promise<void> {
  requireWithin(key, manager);
  await store.removeKey(key.hash, manager.keyHashes);
}

/** Finds a key of a user by its fingerprint. Throws AccountError if there is none. */
export async function findUserKey(store: AccountStore, userId: string, fingerprint: string): Promise<Key> {
  const found = (await store.listKeys(userId)).find((key) => key.fingerprint === fingerprint);
  if (!found) throw new AccountError("The user has no key with this fingerprint", "keyNotFound");
  return found;
}

function requireWithin(key: KeyRights, { rights }: KeyManager): void {
  if (!isWithinRights(key, rights))
    throw new AccountError(
      "The key has scopes or galleries that the key of the request lacks",
      "rightsExceeded",
    );
}

/** A key that expires soon must not create one that lasts. */
function requireShorter({ expiresAt }: Pick<Key, "expiresAt">, { keyExpiresAt }: KeyManager): void {
  if (keyExpiresAt && (!expiresAt || expiresAt > keyExpiresAt))
    throw new AccountError("The key would be valid for longer than the key of the request", "rightsExceeded");
}
