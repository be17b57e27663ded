const ADMIN_KEY = "admin_key";

/** Reads the admin key of this browser tab; empty if there is none. No other page reads it. */
export function readAdminKey(): string {
  return sessionStorage.getItem(ADMIN_KEY) ?? "";
}

/** Stores the admin key for this browser tab; an empty one is removed. */
export function storeAdminKey(key: string): void {
  if (key) sessionStorage.setItem(ADMIN_KEY, key);
  else sessionStorage.removeItem(ADMIN_KEY);
}
